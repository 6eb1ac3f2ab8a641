#include "model/transformer/serving.hpp"

#include <algorithm>

#include "model/transformer/step_kernels.hpp"
#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

double real(std::int64_t count) {
  return static_cast<double>(count);
}

Task task_of(const Service& service, Phase phase) {
  Task task;
  task.phase = phase;
  task.dtype = service.dtype;
  task.framework = Framework::compiled;
  task.tp = service.tp;
  task.ep = service.ep;
  if (phase == Phase::prefill) {
    task.seq = service.input;
  } else {
    task.batch = service.concurrency;
    task.context = service.input + service.output / 2;
  }
  return task;
}

}  // namespace

Serving predict_serving(const Architecture& model, const Service& service, const Gpu& gpu) {
  KernelForecasts forecasts(gpu);
  return predict_serving(model, service, gpu, forecasts);
}

Serving predict_serving(const Architecture& model, const Service& service, const Gpu& gpu,
                        KernelForecasts& forecasts) {
  if (service.concurrency < 1 || service.input < 1 || service.output < 1) {
    throw InputError("'concurrency', 'input' and 'output' of a service are at least 1");
  }
  const Step decode = predict_step(model, task_of(service, Phase::decode), gpu, forecasts);
  const Step prefill = predict_step(model, task_of(service, Phase::prefill), gpu, forecasts);
  const bool together = service.prompts == Prompts::together;
  const double waited =
      together ? real(service.concurrency) / 2 : 0;  // prompts before the first token
  const double prompts = (real(service.concurrency) - waited) / real(service.output);
  Serving serving;
  serving.decode_s = decode.expected_s;
  serving.prefill_s = prefill.expected_s;
  serving.between_tokens_s = decode.expected_s + prompts * prefill.expected_s;
  serving.low_s = decode.low_s + prompts * prefill.low_s;
  serving.high_s = decode.high_s + prompts * prefill.high_s;
  serving.to_first_token_s = std::max(1.0, waited) * prefill.expected_s;
  const double request_s = serving.between_tokens_s * real(service.output) +
                           (together ? waited * prefill.expected_s : 0);
  serving.tokens_per_s = real(service.concurrency * service.output) / request_s;
  Task full = task_of(service, Phase::decode);
  full.context = service.input + service.output;
  serving.memory = memory(model, full);
  if (gpu.memory.dram_bytes) {
    serving.largest_concurrency = largest_batch(model, full, *gpu.memory.dram_bytes);
  }
  return serving;
}

}  // namespace roofcast::transformer
