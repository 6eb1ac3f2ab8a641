#include "cli/output/step_output.hpp"

#include <algorithm>
#include <array>

#include "cli/output/answer.hpp"
#include "cli/output/text_table.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::cli {
namespace {

using transformer::Memory;
using transformer::StepPart;
using transformer::Task;

struct NamedBytes {
  std::string_view key;
  std::string_view text;
  double Memory::*bytes;
};
constexpr std::array kMemoryParts = {
    NamedBytes{"weights_bytes", "weights", &Memory::weights},
    NamedBytes{"gradients_bytes", "gradients", &Memory::gradients},
    NamedBytes{"optimizer_bytes", "optimizer", &Memory::optimizer},
    NamedBytes{"activations_bytes", "activations", &Memory::activations},
    NamedBytes{"cache_bytes", "cache", &Memory::cache},
    NamedBytes{"workspace_bytes", "workspace", &Memory::workspace}};

std::string_view word_of(transformer::Checkpointing checkpointing) {
  return transformer::kCheckpointings.at(static_cast<std::size_t>(checkpointing));
}

std::string what_would_fit(const transformer::Architecture& model, Task task, double bytes) {
  const std::int64_t batch = largest_batch(model, task, bytes);
  if (batch > 0) return fmt::format("batch {} fits", batch);
  using transformer::Checkpointing;
  for (const Checkpointing more : {Checkpointing::selective, Checkpointing::full}) {
    if (task.phase != transformer::Phase::train || task.checkpointing >= more) continue;
    task.checkpointing = more;
    const std::int64_t checkpointed = largest_batch(model, task, bytes);
    if (checkpointed > 0) {
      return fmt::format("batch {} with --checkpointing {} fits", checkpointed, word_of(more));
    }
  }
  constexpr std::int64_t kMost = 8;  // GPUs of one switch
  for (task.fsdp *= 2; task.phase == transformer::Phase::train && task.fsdp <= kMost;
       task.fsdp *= 2) {
    const std::int64_t sharded = largest_batch(model, task, bytes);
    if (sharded > 0) return fmt::format("batch {} with --fsdp {} fits", sharded, task.fsdp);
  }
  return "no batch fits: share the weights among more GPUs (--tp)";
}

void write_memory(JsonWriter& json, const StepAnswer& answer) {
  json.begin_object("memory");
  for (const NamedBytes& part : kMemoryParts) {
    json.foreign_key(part.key);
    json.number(answer.memory.*part.bytes);
  }
  json.member("total_bytes", answer.memory.total());
  json.boolean("fits", answer.fits);
  json.end_object();
}

void write_parts(JsonWriter& json, const transformer::Step& step) {
  json.objects("parts", step.parts, [&](const StepPart& part) {
    json.member("name", part.name);
    json.member("time_s", part.expected_s);
    json.member("share", part.expected_s / step.expected_s);
    json.member("bound", part.bound);
  });
}

// Time of transfers among GPUs: alone, hidden and exposed, and what launches beside them lose (s).
void write_transfers(JsonWriter& json, const transformer::StepTransfers& transfers) {
  json.begin_object("transfers");
  json.member("alone_s", transfers.alone_s);
  json.member("hidden_s", transfers.hidden_s);
  json.member("exposed_s", transfers.exposed_s);
  json.member("slowed_s", transfers.slowed_s);
  json.end_object();
}

std::string transfers_text(const transformer::StepTransfers& transfers) {
  if (transfers.alone_s <= 0) return "";
  return fmt::format("  transfers      {}: {} hidden, {} exposed; launches beside them lose {}\n",
                     si_text(transfers.alone_s, "s"), si_text(transfers.hidden_s, "s"),
                     si_text(transfers.exposed_s, "s"), si_text(transfers.slowed_s, "s"));
}

void write_operations(JsonWriter& json, const transformer::Step& step) {
  constexpr std::array<std::string_view, 4> kSections = {"begin", "layer", "end", "once"};
  json.objects("operations", step.operations, [&](const transformer::StepOperation& one) {
    json.member("part", one.part);
    json.member("kernel", one.what);
    json.word_member("section", kSections.at(static_cast<std::size_t>(one.section)));
    json.word_member("direction",
                     transformer::kDirections.at(static_cast<std::size_t>(one.direction)));
    json.member("count", one.count);
    json.member("launches", one.launches);
    json.member("time_s", one.expected_s);
    json.member("alone_s", one.alone_s);
    json.member("share", one.expected_s / step.expected_s);
    json.member("bound", one.bound);
    json.boolean("beside", one.order != transformer::Order::in_turn);
  });
}

std::vector<std::string> notes_of(const StepAnswer& answer) {
  std::vector<std::string> notes;
  if (!answer.fits) notes.push_back("does not fit the memory: " + answer.would_fit);
  if (answer.step) notes.insert(notes.end(), answer.step->notes.begin(), answer.step->notes.end());
  if (!answer.refusal.empty()) notes.push_back(answer.refusal);
  const Task& task = answer.task;
  if (task.phase == transformer::Phase::train && answer.memory.gradients <= 0) {
    notes.emplace_back(
        "memory is that before the backward pass, where most is in use: no gradients are there "
        "yet");
  }
  return notes;
}

std::string parts_text(const transformer::Step& step, const Style& style) {
  std::vector<StepPart> parts = step.parts;
  std::stable_sort(parts.begin(), parts.end(), [](const StepPart& left, const StepPart& right) {
    return left.expected_s > right.expected_s;
  });
  TextTable table({{"part"}, {"time", Align::right}, {"share", Align::right}, {"bound by"}});
  for (const StepPart& part : parts) {
    table.add({part.name, si_text(part.expected_s, "s"), percent(part.expected_s / step.expected_s),
               part.bound});
  }
  return table.text(style, "  ");
}

}  // namespace

StepAnswer answer_step(const std::string& name, const transformer::Architecture& architecture,
                       const Task& task, const Gpu& gpu) {
  transformer::KernelForecasts forecasts(gpu);
  return answer_step(name, architecture, task, forecasts);
}

StepAnswer answer_step(const std::string& name, const transformer::Architecture& architecture,
                       const Task& task, transformer::KernelForecasts& forecasts) {
  check(architecture, task);
  const Gpu& gpu = forecasts.gpu();
  StepAnswer answer{name, gpu.name, architecture, task, memory(architecture, task),
                    true, "",       {},           ""};
  answer.capacity_bytes = gpu.memory.dram_bytes;
  if (const auto& bytes = gpu.memory.dram_bytes; bytes && answer.memory.total() > *bytes) {
    answer.fits = false;
    answer.would_fit = what_would_fit(architecture, task, *bytes);
  }
  try {
    answer.step = predict_step(architecture, task, forecasts);
  } catch (const InputError& error) {
    answer.refusal = error.what();
  }
  return answer;
}

void write_json(JsonWriter& json, const StepAnswer& answer) {
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  json.member("model", answer.model);
  json.member("gpu", answer.gpu);
  json.key("time");
  if (answer.step) {
    json.begin_object();
    json.member("expected_s", answer.step->expected_s);
    json.member("low_s", answer.step->low_s);
    json.member("high_s", answer.step->high_s);
    json.end_object();
    json.member("tokens_per_s", answer.step->tokens_per_s);
    json.member("mfu", answer.step->mfu);
    json.member("hfu", answer.step->hfu);
    json.member("limit_s", answer.step->limit_s);
    json.member("fraction_of_limit", answer.step->limit_s / answer.step->expected_s);
  } else {
    json.null();
  }
  write_memory(json, answer);
  if (answer.step) {
    write_parts(json, *answer.step);
    write_transfers(json, answer.step->transfers);
    write_operations(json, *answer.step);
  }
  json.strings("notes", notes_of(answer));
  json.end_object();
}

std::string step_text(const StepAnswer& answer, const Style& style) {
  const Task& task = answer.task;
  std::string text =
      fmt::format("{}  {}  batch={} {} on {} × {}\n", answer.model,
                  transformer::kPhases[static_cast<std::size_t>(task.phase)], task.batch,
                  task.phase == transformer::Phase::decode ? fmt::format("context={}", task.context)
                                                           : fmt::format("seq={}", task.seq),
                  task.gpus(), answer.gpu);
  if (answer.step) {
    text += fmt::format("  expected time  {}  [{}, {}]\n", si_text(answer.step->expected_s, "s"),
                        si_text(answer.step->low_s, "s"), si_text(answer.step->high_s, "s"));
    text += fmt::format("  limit          {} ({} of the expected time)\n",
                        si_text(answer.step->limit_s, "s"),
                        percent(answer.step->limit_s / answer.step->expected_s));
    text += fmt::format("  tokens         {}\n", si_text(answer.step->tokens_per_s, "token/s"));
    text += fmt::format("  MFU            {}\n", percent(answer.step->mfu));
    if (task.checkpointing != transformer::Checkpointing::none) {
      text += fmt::format("  HFU            {}\n", percent(answer.step->hfu));
    }
  }
  if (answer.step) text += transfers_text(answer.step->transfers);
  text += fmt::format("  memory         {} a GPU: ", si_text(answer.memory.total(), "B"));
  std::string_view separator;
  for (const NamedBytes& part : kMemoryParts) {
    if (answer.memory.*part.bytes <= 0) continue;
    text += fmt::format("{}{} {}", separator, part.text, si_text(answer.memory.*part.bytes, "B"));
    separator = ", ";
  }
  text += '\n';
  for (const std::string& note : notes_of(answer)) text += "  " + note + '\n';
  if (answer.step) text += '\n' + parts_text(*answer.step, style);
  return text;
}

std::string architecture_text(const std::string& name, const transformer::Architecture& model,
                              const Style& style) {
  const transformer::ParameterCounts counts = count_parameters(model);
  TextTable table({{"part"}, {"parameters", Align::right}});
  const auto add = [&](std::string_view part, double count) {
    if (count > 0) table.add({std::string(part), si_text(count, "")});
  };
  add("attention of a layer", counts.attention_layer);
  add("norms of a layer", counts.norms_layer);
  const bool has_dense = !model.experts || model.experts->dense_layers > 0;
  if (has_dense) add("feed-forward of a layer", counts.dense_layer);
  add("experts of a layer", counts.expert_layer);
  add("embeddings", counts.embeddings);
  add("head", counts.head);
  add("all", counts.total);
  add("that a token passes", counts.active);
  return fmt::format("{}  {} layers of width {}\n", name, model.layers, model.hidden) +
         table.text(style, "  ");
}

}  // namespace roofcast::cli
