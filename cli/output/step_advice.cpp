#include "cli/output/step_advice.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace roofcast::cli {
namespace {

using transformer::Architecture;
using transformer::Checkpointing;
using transformer::Framework;
using transformer::Phase;
using transformer::Task;

/// Matrix products on tensor cores run best with a vocabulary that is a multiple of this.
constexpr std::int64_t kVocabularyStep = 128;

class Changes {
 public:
  Changes(const StepAnswer& answer, const Gpu& gpu) : answer_(answer), forecasts_(gpu) {}

  void ask(const std::string& what, const Task& task) { ask(what, answer_.architecture, task); }

  void ask(const std::string& what, const Architecture& model, const Task& task) {
    constexpr double kLeastGain = 1.02;
    if (answer_.capacity_bytes && memory(model, task).total() > *answer_.capacity_bytes) return;
    try {
      const transformer::Step step = predict_step(model, task, forecasts_);
      const double faster = step.tokens_per_s / answer_.step->tokens_per_s;
      if (faster >= kLeastGain) changes_.push_back({what, faster});
    } catch (const InputError&) {  // the step has no forecast
    }
  }

  std::vector<StepChange> sorted() {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const auto& a, const auto& b) { return a.faster > b.faster; });
    return std::move(changes_);
  }

 private:
  const StepAnswer& answer_;
  transformer::KernelForecasts forecasts_;
  std::vector<StepChange> changes_;
};

void ask_of_training(Changes& changes, const Architecture& model, const Task& task) {
  if (task.phase != Phase::train) return;
  Task chunked = task;
  chunked.chunked_loss = true;
  if (!task.chunked_loss && chunks_loss(model, chunked)) {
    changes.ask("the loss fused with its product, in chunks of tokens", chunked);
  }
  for (const Checkpointing less : {Checkpointing::none, Checkpointing::selective}) {
    if (less >= task.checkpointing) continue;
    Task other = task;
    other.checkpointing = less;
    changes.ask(fmt::format("--checkpointing {}",
                            transformer::kCheckpointings.at(static_cast<std::size_t>(less))),
                other);
  }
}

}  // namespace

std::vector<StepChange> step_changes(const StepAnswer& answer, const Gpu& gpu) {
  if (!answer.step) return {};
  Changes changes(answer, gpu);
  const Task& task = answer.task;
  if (task.framework == Framework::eager) {
    Task other = task;
    other.framework = Framework::compiled;
    changes.ask("--framework compiled", other);
  }
  ask_of_training(changes, answer.architecture, task);
  Task larger = task;
  larger.batch *= 2;
  changes.ask(fmt::format("--batch {}", larger.batch), larger);
  if (task.phase != Phase::train && task.dtype == DType::bf16) {
    Task narrow = task;
    narrow.dtype = DType::fp8;
    changes.ask("--dtype fp8", narrow);
  }
  Architecture padded = answer.architecture;
  padded.vocabulary = (padded.vocabulary + kVocabularyStep - 1) / kVocabularyStep * kVocabularyStep;
  if (padded.vocabulary != answer.architecture.vocabulary) {
    changes.ask(fmt::format("a vocabulary of {}", padded.vocabulary), padded, task);
  }
  return changes.sorted();
}

std::string changes_text(const std::vector<StepChange>& changes) {
  std::string text;
  for (const StepChange& change : changes) {
    text += fmt::format("{}{} ({:.2f}× the tokens a second)", text.empty() ? "  next: " : ", ",
                        change.what, change.faster);
  }
  return text.empty() ? text : text + '\n';
}

}  // namespace roofcast::cli
