// Kernels in turn for seconds (validation/long_runs.py mixes): one clock for all of them, which their
// mean power sets. Nothing was fitted to these times; dram_byte_energy and tensor_energy_share are of
// the H200's powers.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "model/laws/clock.hpp"
#include "model/roofcast.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/measured_rows.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

// The parts of a mix that are kernels of the model (validation/long_runs.py).
struct KnownPart {
  const char* kernel;
  std::map<std::string, std::string> fields;
};
const std::map<char, KnownPart>& parts() {
  const auto product = [](const char* m, const char* n, const char* k) {
    return KnownPart{"gemm.library", {{"m", m}, {"n", n}, {"k", k}, {"layout", "nt"}}};
  };
  const auto attention = [](const char* library, const char* batch, const char* seq,
                            const char* dim) {
    return KnownPart{"attention.library",
                     {{"batch", batch},
                      {"heads", "32"},
                      {"seq_q", seq},
                      {"head_dim", dim},
                      {"causal", library == std::string("cudnn") ? "yes" : "no"},
                      {"library", library},
                      {"layout", "bhsd"}}};
  };
  static const std::map<char, KnownPart> all = {
      {'P', product("8192", "8192", "8192")},        {'Q', product("4096", "2048", "8192")},
      {'R', product("4096", "16384", "2048")},       {'M', product("8190", "8190", "8190")},
      {'A', attention("cudnn", "2", "4096", "128")}, {'D', attention("cudnn", "4", "2048", "64")},
      {'F', attention("fa2", "2", "4096", "128")},   {'G', attention("fa2", "4", "4096", "64")},
      {'H', attention("fa2", "2", "4096", "256")},   {'C', {"stream.copy", {{"n", "134217728"}}}}};
  return all;
}

Forecast forecast_of(char part, double slowdown, const Gpu& gpu) {
  const auto& [name, fields] = parts().at(part);
  NamedRow row{.fields = fields};
  row.fields["dtype"] = "bf16";
  const KernelRef kernel = find_kernel(name);
  Assumptions assumptions;
  assumptions.cache = CacheState::steady;
  assumptions.clock_slowdown = slowdown;
  return *predict(kernel, problem_of(kernel, row), gpu, assumptions).time;
}

struct MixedRun {
  const char* file;
  int rows;
};
class Power : public ::testing::TestWithParam<MixedRun> {};

TEST_P(Power, OneClockOfAllThatRunsInTurn) {
  Accuracy late;
  for (const NamedRow& row : measured_rows(GetParam().file)) {
    const std::string& mix = row["mix"];
    const auto known = [](char part) { return parts().contains(part); };
    if (!std::all_of(mix.begin(), mix.end(), known)) continue;
    const Gpu& gpu = testing::gpu_named(row["device"]);
    double time_s = 0, energy = 0;
    for (const char part : mix) {
      const Forecast alone = forecast_of(part, 0, gpu);
      time_s += alone.expected_s;
      energy += alone.energy_j;
    }
    const double slowdown =
        long_run_slowdown(energy / time_s, std::numeric_limits<double>::infinity(), gpu);
    const Forecast one = forecast_of(row["part"].front(), slowdown, gpu);
    late.add(one.expected_s, one.low_s, one.high_s, row.real("late_us") * 1e-6);
  }
  late.print(GetParam().file);
  EXPECT_EQ(late.rows(), GetParam().rows);
  EXPECT_LE(late.error(), 0.08);
  EXPECT_GE(late.coverage(), 0.9);
}
INSTANTIATE_TEST_SUITE_P(Gpus, Power,
                         ::testing::Values(MixedRun{"h200-sxm-power-2026-11-27.csv", 26},
                                           MixedRun{"h100-sxm5-power-2026-11-27.csv", 26},
                                           MixedRun{"h100-sxm5-power-2026-11-27b.csv", 11}),
                         [](const auto& run) {
                           const std::string file = run.param.file;
                           return file.substr(0, 4) + file.substr(file.size() - 5, 1);
                         });

}  // namespace
}  // namespace roofcast::validation
