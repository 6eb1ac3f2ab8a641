// fit_serving ../shared/reference/serving.csv
// Fits the software's time per request and step (model/constants/steps.hpp) to every second row, of
// those on the H100. Prints for each model the error of the other rows, and its error if fitted to
// the other models alone.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "architectures/loader.hpp"
#include "hw_specs/loader.hpp"
#include "hw_specs/text_file.hpp"
#include "model/transformer/serving.hpp"
#include "model/transformer/step.hpp"
#include "validation/calibration/named_rows.hpp"

namespace {

namespace transformer = roofcast::transformer;

struct Row {
  std::string model;
  double concurrency = 0, kernels_s = 0, measured_s = 0;
  bool even = false;
};

std::string model_of(const std::string& name) {
  if (name.find("235B") != std::string::npos) return "qwen3-235b-a22b";
  return name.find("32B") != std::string::npos ? "qwen3-32b" : "llama-3.1-8b";
}

transformer::Service service_of(const roofcast::validation::NamedRow& row) {
  transformer::Service service;
  service.dtype = row["gemm_dtype"] == "bf16" ? roofcast::DType::bf16 : roofcast::DType::fp8;
  service.input = row.whole("input_tokens");
  service.output = row.whole("output_tokens");
  service.concurrency = row.whole("concurrency");
  service.tp = row.whole("tp");
  service.ep = std::max<std::int64_t>(1, row.whole("ep"));
  // sglang's requests begin and end together.
  if (row["backend"] == "sglang") service.prompts = transformer::Prompts::together;
  return service;
}

std::vector<Row> read_rows(const char* path) {
  const roofcast::Gpu gpu = roofcast::specs::load(roofcast::specs::shipped_source("h100-sxm5"));
  transformer::KernelForecasts forecasts(gpu);
  std::vector<Row> rows;
  for (const auto& row : roofcast::validation::named_rows(path, roofcast::specs::read_text(path))) {
    const bool few = row["backend"] == "vllm" && row["gemm_dtype"] == "fp8";
    if (row["gpu"] != gpu.name || few) continue;
    const std::string model = model_of(row["model"]);
    const auto architecture =
        roofcast::architectures::load(model, roofcast::architectures::find_embedded(model)->text);
    const auto answer = predict_serving(architecture, service_of(row), forecasts);
    rows.push_back({model, row.real("concurrency"),
                    answer.between_tokens.expected_s - answer.software_s,
                    row.real("tpot_ms") * 1e-3, row.even()});
  }
  return rows;
}

using Keep = std::function<bool(const Row&)>;

double error(const std::vector<Row>& rows, double request_s, const Keep& keep) {
  double sum = 0, count = 0;
  for (const Row& row : rows) {
    if (!keep(row)) continue;
    sum += std::abs((row.kernels_s + request_s * row.concurrency) / row.measured_s - 1);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// The time per request (s) of least mean error, in whole microseconds up to 100.
double fitted(const std::vector<Row>& rows, const Keep& keep) {
  double best = 0;
  for (int us = 1; us <= 100; ++us) {
    if (error(rows, us * 1e-6, keep) < error(rows, best, keep)) best = us * 1e-6;
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fit_serving serving.csv\n");
    return 2;
  }
  const std::vector<Row> rows = read_rows(argv[1]);
  const double request_s = fitted(rows, [](const Row& row) { return row.even; });
  std::printf("request_s %.3g\n", request_s);
  for (const char* model : {"llama-3.1-8b", "qwen3-32b", "qwen3-235b-a22b"}) {
    const auto is_it = [model](const Row& row) { return row.model == model; };
    const double of_others = fitted(rows, [&](const Row& row) { return row.even && !is_it(row); });
    std::printf(
        "%-16s odd rows %4.1f%%, kept out (%.3g s) %4.1f%%\n", model,
        100 * error(rows, request_s, [&](const Row& row) { return !row.even && is_it(row); }),
        of_others, 100 * error(rows, of_others, is_it));
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_serving: %s\n", error.what());
  return 3;
}
