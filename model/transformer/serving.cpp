#include "model/transformer/serving.hpp"

#include <algorithm>

#include "model/constants/steps.hpp"
#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

Task task_of(const Service& service, Phase phase) {
  Task task{.phase = phase,
            .dtype = service.dtype,
            .seq = service.input,
            .tp = service.tp,
            .ep = service.ep,
            .routing = service.routing,
            .framework = Framework::compiled};
  if (phase == Phase::decode) {
    task.batch = service.concurrency;
    task.context = service.input + service.output / 2;
  }
  return task;
}

}  // namespace

Serving predict_serving(const Architecture& model, const Service& service,
                        KernelForecasts& forecasts) {
  require(service.concurrency > 0 && service.input > 0 && service.output > 0,
          "'concurrency', 'input' and 'output' of a service are at least 1");
  Task decoding = task_of(service, Phase::decode);
  const auto step_with = [&](std::int64_t prompts) {
    decoding.prompts = prompts;
    return predict_step(model, decoding, forecasts);
  };
  const Step decode = step_with(0);
  const Step prefill = predict_step(model, task_of(service, Phase::prefill), forecasts);
  const double prompts = as_double(service.concurrency) / as_double(service.output);  // per step
  Serving serving;
  serving.decode_s = decode.expected_s;
  serving.prefill_s = prefill.expected_s;
  serving.software_s = as_double(service.concurrency) * constants::kRequestSeconds;
  Duration& between = serving.between_tokens;
  // The interval of the software's time is 0.5 to 1.5 times its value.
  between = {serving.software_s, serving.software_s / 2, serving.software_s * 1.5};
  double waited = 0;  // prompts computed before the first token
  if (service.prompts == Prompts::together) {
    waited = as_double(service.concurrency) / 2;
    between.add(1, decode);
    between.add(prompts / 2, prefill);
    serving.to_first_token_s = std::max(1.0, waited) * prefill.expected_s;
  } else {
    const auto fewer = service.concurrency / service.output;
    const double with_more = prompts - as_double(fewer);
    const Step joined = step_with(fewer + 1);
    between.add(1 - with_more, fewer > 0 ? step_with(fewer) : decode);
    between.add(with_more, joined);
    serving.joined_s = serving.to_first_token_s = joined.expected_s;
  }
  const double request_s =
      between.expected_s * as_double(service.output) + waited * prefill.expected_s;
  serving.tokens_per_s = as_double(service.concurrency * service.output) / request_s;
  Task full = task_of(service, Phase::decode);
  full.context = service.input + service.output;
  serving.memory = memory(model, full);
  --full.context;  // no step computes the last token of an answer
  if (auto note = positions_note(model, full)) serving.notes.push_back(std::move(*note));
  if (const auto& bytes = forecasts.gpu().memory.dram_bytes) {
    serving.largest_concurrency = largest_batch(model, full, *bytes);
  }
  return serving;
}

}  // namespace roofcast::transformer
