// Kernels beside NCCL's collectives on two H100s (validation/overlap.py): what the schedule makes
// of both, from the times that each has alone. kTransferShare is of these collectives' times; nothing
// was fitted to the kernels'.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/roofcast.hpp"
#include "model/transformer/schedule.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_rows.hpp"

namespace roofcast::validation {
namespace {

using transformer::Collective;
using transformer::Node;
using transformer::Program;
using transformer::Transfer;

Prediction kernel_of(const std::string& name) {
  const bool copy = name.starts_with("copy");
  const KernelRef kernel = find_kernel(copy ? "stream.copy" : "gemm.library");
  Problem problem;
  problem.dtype = name.find("bf16") != std::string::npos ? DType::bf16 : DType::fp32;
  unsigned given = 0;
  for (std::size_t i = 0; i < kernel.parameters().size(); ++i) {
    const std::string_view key = kernel.parameters()[i].name;
    if (key != "m" && key != "n" && key != "k") continue;
    problem[i] = copy ? 67108864 : std::stoll(name.substr(name.rfind('_') + 1));
    given |= 1U << i;
  }
  check(kernel, problem, given);
  Assumptions steady;
  steady.cache = CacheState::steady;
  return predict(kernel, problem, testing::gpu_named("h100-sxm5"), steady);
}

Collective collective_of(const std::string& name) {
  for (const Collective one : transformer::kCollectives) {
    if (transformer::name(one) == name) return one;
  }
  ADD_FAILURE() << name;
  return Collective::all_reduce;
}

/// Mean time of a kernel and of a collective, many of both back to back beside each other.
struct Beside {
  double kernel_s, collective_s;
};
Beside beside(const NamedRow& row) {
  const Transfer transfer{collective_of(row["collective"]), row.real("bytes"), row.real("gpus")};
  const double kernel_s = row.real("kernel_alone_us") * 1e-6;
  const double sent_s = row.real("collective_alone_us") * 1e-6;
  const Node kernel{kernel_s, transformer::use_of(kernel_of(row["kernel"]))};
  const Node sent{sent_s, transformer::use_of(transfer, sent_s, testing::gpu_named("h100-sxm5"))};
  constexpr double kTimed_s = 20e-3;
  const auto timed = static_cast<std::size_t>(kTimed_s / kernel_s) + 2;
  const Program when = transformer::schedule(
      {std::vector<Node>(timed, kernel),
       std::vector<Node>(static_cast<std::size_t>(kTimed_s / sent_s) + 2, sent)});
  std::size_t ended = 0;
  while (ended < when.beside.size() && when.beside[ended].end_s <= when.in_turn.back().end_s) {
    ++ended;
  }
  return {when.in_turn.back().end_s / static_cast<double>(timed),
          when.beside[ended - 1].end_s / static_cast<double>(ended)};
}

TEST(MeasuredOverlap, KernelsAndCollectivesBesideEachOther) {
  std::ifstream in(std::filesystem::path(ROOFCAST_MEASURED_DIR) /
                   "h100-sxm5-overlap-2026-11-25.csv");
  std::ostringstream text;
  text << in.rdbuf();
  double kernels = 0, ignored = 0, lasting = 0, all = 0;
  int rows = 0, long_ones = 0;
  for (const NamedRow& row : reference_rows(text.str())) {
    const Beside both = beside(row);
    const double measured_s = row.real("kernel_beside_us") * 1e-6;
    kernels += std::abs(both.kernel_s / measured_s - 1);
    ignored += std::abs(row.real("kernel_alone_us") * 1e-6 / measured_s - 1);
    ++rows;
    const double error =
        std::abs(std::log(both.collective_s / (row.real("collective_beside_us") * 1e-6)));
    all += error;
    // Several much shorter collectives end while a kernel's last blocks leave SMs: they count in
    // `all` alone.
    if (row.real("collective_alone_us") < 0.1 * row.real("kernel_alone_us")) continue;
    lasting += error;
    ++long_ones;
  }
  ASSERT_EQ(rows, 60);
  ASSERT_GE(long_ones, 45);
  std::printf(
      "kernels %.1f%% (%.1f%% if they had the GPU alone), collectives over a tenth of the "
      "kernel, mean |log error| %.2f of %d, all %.2f\n",
      100 * kernels / rows, 100 * ignored / rows, lasting / long_ones, long_ones, all / rows);
  EXPECT_LE(kernels / rows, 0.08);
  EXPECT_LE(kernels, 0.6 * ignored);
  EXPECT_LE(lasting / long_ones, 0.2);
  EXPECT_LE(all / rows, 0.36);
}

}  // namespace
}  // namespace roofcast::validation
