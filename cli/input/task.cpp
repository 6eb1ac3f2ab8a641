#include "cli/input/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "architectures/loader.hpp"
#include "cli/input/sweep_axis.hpp"
#include "cli/output/files.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

using transformer::Phase;
using transformer::Task;

struct Number {
  std::string_view key;
  std::string_view meaning;
  std::int64_t Task::*member;
  std::int64_t most;
};
constexpr std::array kNumbers = {
    Number{"batch", "sequences of one GPU at a time (default: 1)", &Task::batch, 1 << 20},
    Number{"seq", "tokens of a sequence (default: 1024)", &Task::seq, 1 << 20},
    Number{"context", "decode: keys that the cache holds", &Task::context, 1 << 24},
    Number{"grad_accum", "train: passes between two optimizer steps (default: 1)",
           &Task::grad_accum, 1 << 16},
    Number{"tp", "GPUs that share each product (default: 1)", &Task::tp, 8},
    Number{"dp", "copies of the model (default: 1)", &Task::dp, 4096},
    Number{"fsdp", "GPUs that share weights, gradients and optimizer states (default: 1)",
           &Task::fsdp, 4096},
    Number{"pp", "train: stages of layers, which the passes of --grad-accum go through one by one",
           &Task::pp, 64},
    Number{"ep", "GPUs that share the experts, of dp times fsdp or else of tp (default: 1)",
           &Task::ep, 512}};

/// A real number of a task, in SI units.
struct Real {
  std::string_view key, unit, meaning;
  double Task::*member;
  double least, most;
};
constexpr std::array kReals = {
    Real{"network", "B/s", "of a GPU's adapter to other machines, in one direction (default: 50e9)",
         &Task::network_bytes_per_s, 1e6, 1e13},
    Real{"host_launch", "s",
         "in which PyTorch's host submits a launch (default: 31e-6; 0: the GPU never waits for it)",
         &Task::host_launch_s, 0, 1}};

/// Options of a service that a step refuses.
constexpr std::array<std::string_view, 4> kOfServices = {"concurrency", "input-tokens",
                                                         "output-tokens", "prompts"};

constexpr std::array<std::string_view, 2> kLogits = {"last", "all"};
constexpr std::array<std::string_view, 2> kNoYes = {"no", "yes"};

/// Sets the member to the value at that position of its words.
template <auto member>
void set_member(Task& task, std::size_t position) {
  task.*member = static_cast<std::remove_reference_t<decltype(task.*member)>>(position);
}

/// A value that is given by one of some words.
struct Word {
  std::string_view key;
  std::span<const std::string_view> words;
  void (*set)(Task&, std::size_t position);
};
constexpr std::array kWords = {
    Word{"phase", transformer::kPhases, set_member<&Task::phase>},
    Word{"framework", transformer::kFrameworks, set_member<&Task::framework>},
    Word{"checkpointing", transformer::kCheckpointings, set_member<&Task::checkpointing>},
    Word{"optimizer", transformer::kOptimizers, set_member<&Task::optimizer>},
    Word{"dropout", kNoYes, set_member<&Task::dropout>},
    Word{"routing", transformer::kRoutings, set_member<&Task::routing>},
    Word{"logits", kLogits, set_member<&Task::all_logits>},
    Word{"prefetch", transformer::kPrefetches, set_member<&Task::prefetch>}};

void set_word(Task& task, const Word& word, std::string_view text) {
  word.set(task, place_of(fmt::format("'{}'", word.key), text, word.words));
}

void set_dtype(Task& task, std::string_view text) {
  const auto type = parse_dtype(text);
  if (!type) {
    throw InputError(
        fmt::format("no type is named '{}': 'dtype' is bf16, fp16, fp32 or fp8", text));
  }
  task.dtype = *type;
}

void set_number(Task& task, const Number& number, std::int64_t value) {
  if (value < 1 || value > number.most) {
    throw InputError(fmt::format("'{}' is 1 to {}, found {}", number.key, number.most, value));
  }
  task.*number.member = value;
}

const Number* find_number(std::string_view key) {
  const auto found = std::find_if(kNumbers.begin(), kNumbers.end(),
                                  [key](const Number& one) { return one.key == key; });
  return found != kNumbers.end() ? &*found : nullptr;
}

std::string option_name(std::string_view key) {
  std::string name(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace

transformer::Architecture shipped_model(std::string_view name) {
  if (const auto* known = architectures::find_embedded(name)) {
    return architectures::load(std::string(name), known->text);
  }
  std::vector<std::string_view> names;
  for (const auto& one : architectures::embedded()) names.push_back(one.name);
  throw InputError(fmt::format("no model is named '{}'.{} There are {}", name,
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

transformer::Architecture model_named(const std::string& name_or_path) {
  const bool path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  return path ? architectures::load(name_or_path, read_file(name_or_path))
              : shipped_model(name_or_path);
}

std::vector<Option> task_options() {
  std::vector<Option> options = {{"train", "", "a training step: forward, backward, AdamW"},
                                 {"prefill", "", "the forward pass over a prompt"},
                                 {"decode", "", "one token for each sequence"}};
  for (const Number& number : kNumbers) {
    options.push_back({option_name(number.key), "VALUES", std::string(number.meaning)});
  }
  for (const Real& real : kReals) {
    options.push_back({option_name(real.key), std::string(real.unit), std::string(real.meaning)});
  }
  options.push_back({"dtype", "TYPE",
                     "of weights, activations and cache: bf16, fp16, fp32, or fp8 of weights and "
                     "products alone"});
  options.push_back({"framework", "WORD",
                     "eager (default): PyTorch kernel by kernel; compiled: fused; ideal: nothing "
                     "that software adds"});
  options.push_back({"checkpointing", "none|selective|full",
                     "what the backward pass computes again: nothing (default), what lies between "
                     "products, or the layer"});
  options.push_back({"optimizer", "adamw|adamw16|sgd",
                     "adamw (default): moments, and weights beside, in fp32; adamw16: moments in "
                     "the type of the weights; sgd: no states"});
  options.push_back({"routing", "WORD",
                     "how often experts are chosen: as_trained (default), balanced, power_law_1.01 "
                     "or power_law_1.2"});
  options.push_back({"dropout", "no|yes",
                     "train: after the embedding, on probabilities in memory and on what joins the "
                     "residual (default: no)"});
  options.push_back({"prefetch", "pre|post",
                     "train: the backward pass gathers the next layer's weights before (default) "
                     "or after the gradients of the layer at hand"});
  options.push_back(
      {"logits", "last|all", "prefill: of the last token of a sequence (default), or of each"});
  return options;
}

namespace {

void set_real(Task& task, const Real& real, double value) {
  if (!(value >= real.least && value <= real.most)) {
    throw InputError(fmt::format("'{}' is {:g} to {:g} {}, found {:g}", real.key, real.least,
                                 real.most, real.unit, value));
  }
  task.*real.member = value;
}

/// Every combination of the values given.
std::vector<Task> tasks_of(const Task& task, const Options& options) {
  std::vector<Axis> axes;
  std::vector<const Number*> numbers;
  for (const Number& number : kNumbers) {
    const std::string name = option_name(number.key);
    const auto text = options.find(name);
    if (!text) continue;
    axes.push_back(parse_axis(name, *text));
    numbers.push_back(&number);
  }
  const Points points(axes, 1);
  std::vector<std::int64_t> values(axes.size());
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < points.count(); ++i) {
    points.at(i, values);
    Task& one = tasks.emplace_back(task);
    for (std::size_t j = 0; j < values.size(); ++j) set_number(one, *numbers[j], values[j]);
    check_given(one);
  }
  return tasks;
}

}  // namespace

std::vector<Task> read_tasks(const Options& options) {
  for (const std::string_view name : kOfServices) {
    if (options.has(name)) throw UsageError("--{} belongs to --serve: add it", name);
  }
  Task task;
  int phases = 0;
  for (const std::string_view phase : transformer::kPhases) {
    if (!options.has(phase)) continue;
    set_word(task, kWords.front(), phase);
    ++phases;
  }
  if (phases != 1) throw UsageError("give one of --train, --prefill and --decode");
  for (const Word& word : kWords) {
    if (const auto text = options.find(word.key)) set_word(task, word, *text);
  }
  if (const auto text = options.find("dtype")) set_dtype(task, *text);
  for (const Real& real : kReals) {
    const std::string name = option_name(real.key);
    if (const auto text = options.find(name)) set_real(task, real, parse_real("--" + name, *text));
  }
  return tasks_of(task, options);
}

void read_task_field(const QueryField& field, Task& task) {
  if (const Number* number = find_number(field.key)) {
    if (field.kind != QueryField::Kind::whole) {
      throw InputError(fmt::format("'{}' takes a whole number", field.key));
    }
    return set_number(task, *number, field.whole);
  }
  std::vector<std::string_view> known = {"model", "gpu", "dtype"};
  for (const Real& real : kReals) {
    known.push_back(real.key);
    if (real.key != field.key) continue;
    if (field.kind != QueryField::Kind::whole && field.kind != QueryField::Kind::real) {
      throw InputError(fmt::format("'{}' takes a number of {}", real.key, real.unit));
    }
    return set_real(task, real, field.real);
  }
  if (field.key == "dtype") return set_dtype(task, text_of(field));
  for (const Word& word : kWords) {
    known.push_back(word.key);
    if (word.key == field.key) return set_word(task, word, text_of(field));
  }
  for (const Number& number : kNumbers) known.push_back(number.key);
  throw InputError(
      fmt::format("models have no parameter '{}'.{}", field.key, did_you_mean(field.key, known)));
}

void check_given(const Task& task) {
  if (task.phase == Phase::decode && task.context == 0) {
    throw InputError("'context' is missing: a decode step needs the keys that its cache holds");
  }
  if (task.phase != Phase::decode && task.context != 0) {
    throw InputError("'context' goes with decode: give 'seq'");
  }
  if (task.phase != Phase::train &&
      (task.grad_accum > 1 || task.checkpointing != transformer::Checkpointing::none)) {
    throw InputError("'grad_accum' and 'checkpointing' go with train");
  }
  if (task.phase != Phase::train && task.optimizer != transformer::Optimizer::adamw) {
    throw InputError("'optimizer' goes with train");
  }
  if (task.prefetch != transformer::Prefetch::pre &&
      (task.phase != Phase::train || task.fsdp == 1)) {
    throw InputError("'prefetch' goes with train and fsdp");
  }
  if (task.phase != Phase::train && task.dropout) throw InputError("'dropout' goes with train");
  if (task.phase != Phase::prefill && task.all_logits) {
    throw InputError("'logits' goes with prefill: training needs all, decoding one");
  }
}

}  // namespace roofcast::cli
