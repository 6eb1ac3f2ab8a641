#include "cli/output/serving_output.hpp"

#include <fmt/format.h>

#include "cli/output/answer.hpp"
#include "cli/output/units.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::cli {
namespace {

std::string memory_note(const ServingAnswer& answer) {
  const auto& largest = answer.serving.largest_concurrency;
  if (!largest) return "";
  if (*largest < 1) return "does not fit the memory: share the weights among more GPUs (--tp)";
  if (!answer.fits()) {
    return fmt::format("does not fit the memory: --concurrency {} fits", *largest);
  }
  return fmt::format("memory holds up to {} requests", *largest);
}

}  // namespace

ServingAnswer answer_service(const std::string& name, const transformer::Architecture& model,
                             const transformer::Service& service,
                             transformer::KernelForecasts& forecasts) {
  const Gpu& gpu = forecasts.gpu();
  return {name, gpu.name, service, predict_serving(model, service, forecasts),
          gpu.memory.dram_bytes};
}

void write_json(JsonWriter& json, const ServingAnswer& answer) {
  const transformer::Serving& serving = answer.serving;
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  json.member("model", answer.model);
  json.member("gpu", answer.gpu);
  json.member("concurrency", answer.service.concurrency);
  const transformer::Duration& between = serving.between_tokens;
  json.begin_object("between_tokens");
  json.member("expected_s", between.expected_s);
  json.member("low_s", between.low_s);
  json.member("high_s", between.high_s);
  json.end_object();
  json.member("decode_s", serving.decode_s);
  json.member("prefill_s", serving.prefill_s);
  if (serving.joined_s > 0) json.member("joined_s", serving.joined_s);
  json.member("software_s", serving.software_s);
  json.member("to_first_token_s", serving.to_first_token_s);
  json.member("tokens_per_s", serving.tokens_per_s);
  json.member("memory_bytes", serving.memory.total());
  if (serving.largest_concurrency) {
    json.member("largest_concurrency", *serving.largest_concurrency);
  }
  json.boolean("fits", answer.fits());
  json.strings("notes", serving.notes);
  json.end_object();
}

std::string serving_text(const ServingAnswer& answer) {
  const transformer::Service& service = answer.service;
  const transformer::Serving& serving = answer.serving;
  std::string text =
      fmt::format("{}  serve  concurrency={} input={} output={} on {} × {}\n", answer.model,
                  service.concurrency, service.input, service.output, service.tp, answer.gpu);
  const transformer::Duration& between = serving.between_tokens;
  text += fmt::format("  between tokens  {}  [{}, {}]\n", si_text(between.expected_s, "s"),
                      si_text(between.low_s, "s"), si_text(between.high_s, "s"));
  text += fmt::format("  decode step     {}\n", si_text(serving.decode_s, "s"));
  text += fmt::format("  a prompt        {}\n", si_text(serving.prefill_s, "s"));
  if (serving.joined_s > 0) {
    text += fmt::format("  step with both  {}\n", si_text(serving.joined_s, "s"));
  }
  text += fmt::format("  software        {} of a step\n", si_text(serving.software_s, "s"));
  text += fmt::format("  first token     {}\n", si_text(serving.to_first_token_s, "s"));
  text += fmt::format("  tokens          {}\n", si_text(serving.tokens_per_s, "token/s"));
  text += fmt::format("  memory          {} a GPU\n", si_text(serving.memory.total(), "B"));
  if (const std::string note = memory_note(answer); !note.empty()) text += "  " + note + '\n';
  for (const std::string& note : serving.notes) text += "  " + note + '\n';
  return text;
}

}  // namespace roofcast::cli
