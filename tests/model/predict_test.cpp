#include "model/predict.hpp"
#include "model/kernels/expression/expression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "model/counting/totals.hpp"
#include "model/kernels/attention/attention.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

Problem checked(const KernelRef& kernel, std::initializer_list<std::int64_t> shape,
                DType type = DType::fp32) {
  Problem problem;
  problem.dtype = type;
  unsigned given = 0;
  for (const std::int64_t extent : shape) {
    problem[static_cast<std::size_t>(std::popcount(given))] = extent;
    given = given << 1U | 1U;
  }
  check(kernel, problem, given);
  return problem;
}

TEST(Predict, ABoardThatLacksThePowerSaysSo) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.vector_flop_energy_j = 1e-11;
  const KernelRef product = find_kernel("gemm.vectorized");
  const Problem problem = checked(product, {4096, 4096, 4096});
  const auto says_so = [&](double power_w) {
    gpu.power_w = power_w;
    const Prediction found = predict(product, problem, gpu);
    return std::any_of(found.notes.begin(), found.notes.end(), [](const std::string& note) {
      return note.starts_with("the power limit of 100 W lowers the SM clock");
    });
  };
  EXPECT_TRUE(says_so(100));
  EXPECT_FALSE(says_so(1e4));
}

// The first launch of a backward pass sums rows and holds no tiles: the bound takes the memory of
// the launch that has most.
TEST(Predict, TheIoBoundIsThatOfTheLargestBlock) {
  const KernelRef flash = find_kernel("attention.flash2");
  Problem problem{.dtype = DType::bf16};
  problem[0] = 1, problem[1] = 32, problem[3] = 8192;
  problem[attention::kPass] = kBackward;
  check(flash, problem, 0b1000'1011);
  const Prediction found = predict(flash, problem, testing::hopper_like());
  EXPECT_GT(found.launches, 1);
  EXPECT_GT(found.io.on_chip_bytes, 0);
  EXPECT_GT(found.io.lower_bound_bytes, 1.5 * found.work.compulsory.total_bytes());
}

// 16 Mi elements of 4 bytes, 64 Ki apart, are spread over 4.4 TB.
TEST(Predict, ArraysCountTheGapsBetweenAccesses) {
  Gpu gpu = testing::hopper_like();
  gpu.memory.dram_bytes = 80e9;
  const KernelRef strided = find_kernel("access.strided");
  const auto says_so = [&](std::int64_t stride) {
    const Prediction found = predict(strided, checked(strided, {1 << 24, stride}), gpu);
    return std::any_of(found.notes.begin(), found.notes.end(), [](const std::string& note) {
      return note.find("they do not fit all at once") != std::string::npos;
    });
  };
  EXPECT_TRUE(says_so(1 << 16));
  EXPECT_FALSE(says_so(64));
}

// 32 heads of 1024² scores of two bytes are 67 MB, more than L2 keeps; those of 256² stay in it,
// written or not.
TEST(Predict, TheFamilyTellsWhereKeepingScoresOnChipBegins) {
  Gpu gpu = testing::hopper_like();
  const KernelRef attention = find_kernel("attention");
  const auto notes =
      predict(attention, checked(attention, {1, 32, 0, 4096}, DType::bf16), gpu).notes;
  const std::string expected =
      "attention.flash2 moves fewer DRAM bytes than attention.standard from seq_q = ";
  const auto found = std::find_if(notes.begin(), notes.end(), [&](const std::string& note) {
    return note.rfind(expected, 0) == 0;
  });
  ASSERT_NE(found, notes.end());
  const int from = std::stoi(found->substr(expected.size()));
  EXPECT_GE(from, 256);
  EXPECT_LE(from, 1024);
  // The time is less as soon as three launches take longer than one.
  const std::string faster = ", and takes less time from seq_q = ";
  const auto time = found->find(faster);
  ASSERT_NE(time, std::string::npos) << *found;
  EXPECT_LE(std::stoi(found->substr(time + faster.size())), from);
  const KernelRef gemm = find_kernel("gemm");
  for (const std::string& note :
       predict(gemm, checked(gemm, {512, 512, 512}, DType::fp32), gpu).notes) {
    EXPECT_EQ(note.find("fewer DRAM bytes"), std::string::npos);
  }
}

TEST(Catalog, NamesAreUniqueAndFound) {
  std::vector<std::string_view> seen;
  for (const KernelFamily& family : catalog()) {
    EXPECT_EQ(find_kernel(family.name).kernel, nullptr);
    for (const KernelModel& kernel : family.variants) {
      EXPECT_EQ(find_kernel(kernel.name).kernel, &kernel);
      EXPECT_EQ(kernel.name.substr(0, family.name.size()), family.name);
      EXPECT_EQ(std::count(seen.begin(), seen.end(), kernel.name), 0);
      EXPECT_LE(kernel.parameters.size(), Problem::kMaxParameters);
      seen.push_back(kernel.name);
    }
  }
  EXPECT_GE(seen.size(), 15U);
}

TEST(Catalog, UnknownNameSuggestsTheNearest) {
  try {
    find_kernel("gemm.tilde");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::strstr(error.what(), "gemm.tiled"), nullptr) << error.what();
  }
}

TEST(Check, MissingAndOutOfRangeAndUnknownType) {
  const KernelRef gemm = find_kernel("gemm.tiled");
  Problem problem;
  EXPECT_THROW(check(gemm, problem, 0b011), InputError);
  problem.values = {16, 16, 0};
  EXPECT_THROW(check(gemm, problem, 0b111), InputError);
  problem.values = {16, 16, 16};
  problem.dtype = DType::bf16;
  EXPECT_THROW(check(gemm, problem, 0b111), InputError);
  problem.dtype = DType::fp32;
  check(gemm, problem, 0b111);
  EXPECT_EQ(problem[3], 32);  // the default tile
}

// A text parameter is compared as text: the number in its place is ignored.
TEST(Check, ATextHasNoNumber) {
  const KernelRef kernel = find_kernel("elementwise.expr.fused");
  const std::size_t position = elementwise::kExpression;
  Problem problem;
  problem[0] = 1000;
  problem[position] = 7;
  problem.text = Text("x+y");
  check(kernel, problem, 1U | 1U << position);
  EXPECT_EQ(problem[position], 0);
  problem.text = Text("");
  EXPECT_THROW(check(kernel, problem, 1U | 1U << position), InputError);
}

TEST(Predict, GemmCountsItsFlopsAndBytesExactly) {
  const Gpu gpu = testing::hopper_like();
  const KernelRef kernel = find_kernel("gemm.tiled");
  const Prediction p = predict(kernel, checked(kernel, {1000, 520, 300}), gpu);
  EXPECT_EQ(p.work.flops(), 2.0 * 1000 * 520 * 300);
  EXPECT_EQ(p.work.compulsory.total_bytes(), 4.0 * (1000 * 300 + 300 * 520 + 1000 * 520));
  EXPECT_EQ(p.launch->blocks(), 32 * 17);
}

TEST(Predict, FamilyAloneAnswersTheLimitOnly) {
  const Gpu gpu = testing::hopper_like();
  const KernelRef gemm = find_kernel("gemm");
  const Prediction p = predict(gemm, checked(gemm, {8192, 8192, 8192}, DType::bf16), gpu);
  EXPECT_DOUBLE_EQ(p.limit.time_s, 2 * std::pow(8192.0, 3) / (132 * 4096 * 2e9));
  EXPECT_EQ(binding(p.limit.terms), Resource::tensor);
  EXPECT_FALSE(p.launch || p.occupancy || p.waves || p.time);
}

TEST(Predict, FamilyWithoutCommonWorkNamesItsVariants) {
  const KernelRef stream = find_kernel("stream");
  EXPECT_THROW(predict(stream, checked(stream, {1000}), testing::hopper_like()), InputError);
}

TEST(Predict, BlockThatDoesNotFitIsRefused) {
  const KernelRef kernel = find_kernel("gemm.tiled");
  Problem problem = checked(kernel, {512, 512, 512});
  problem[3] = problem[4] = 64;  // 4096 threads
  EXPECT_THROW(predict(kernel, problem, testing::hopper_like()), InputError);
}

TEST(Predict, DeviceWithoutWarpsAnswersTheLimit) {
  Gpu gpu = testing::hopper_like();
  gpu.occupancy.reset();
  const KernelRef kernel = find_kernel("stream.copy");
  const Prediction p = predict(kernel, checked(kernel, {1 << 30}), gpu);
  EXPECT_GT(p.limit.time_s, 0);
  EXPECT_FALSE(p.waves || p.time);
  ASSERT_EQ(p.notes.size(), 1U);
  EXPECT_NE(p.notes[0].find("not defined for this device"), std::string::npos);
}

// 100 KiB (and 1 KiB of the system's) a block: two fit the 228 KiB of an SM.
TEST(Predict, ReservedSharedMemoryLimitsTheOccupancy) {
  const KernelRef kernel = find_kernel("stream.copy");
  const Problem problem = checked(kernel, {1 << 28, 256, 16, 1, 100 * 1024});
  const Prediction p = predict(kernel, problem, testing::hopper_like());
  EXPECT_EQ(p.occupancy->blocks_per_sm, 2);
  EXPECT_EQ(p.occupancy->limited_by, OccupancyLimiter::shared_memory);
  const Prediction full = predict(kernel, checked(kernel, {1 << 28}), testing::hopper_like());
  EXPECT_EQ(full.occupancy->blocks_per_sm, 8);
  EXPECT_GT(p.time->expected_s, full.time->expected_s);
}

TEST(Predict, NotesSayWhatWasNotValidated) {
  Gpu gpu = testing::hopper_like();
  const KernelRef kernel = find_kernel("gemm.tiled");
  ASSERT_EQ(predict(kernel, checked(kernel, {512, 512, 512}), gpu).notes.size(), 1U);
  gpu.sustained.source = "a run";
  EXPECT_TRUE(predict(kernel, checked(kernel, {512, 512, 512}), gpu).notes.empty());
  const auto outside = predict(kernel, checked(kernel, {512, 512, 20}), gpu).notes;
  ASSERT_EQ(outside.size(), 1U);
  EXPECT_EQ(outside[0], "k is 20: validated from 128 to 16384");
  const auto other_tile = predict(kernel, checked(kernel, {512, 512, 512, 8, 64}), gpu).notes;
  ASSERT_EQ(other_tile.size(), 1U);
  EXPECT_NE(other_tile[0].find("registers and instructions are estimated"), std::string::npos);
}

// The device of these tests has fp16 and bf16, but no such arithmetic once its rates are gone.
TEST(Predict, NotesSayWhatIsEmulated) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.source = "a run";
  const auto notes = [&gpu](std::string_view name) {
    const KernelRef kernel = find_kernel(name);
    return predict(kernel, checked(kernel, {1 << 20}, DType::bf16), gpu).notes;
  };
  EXPECT_TRUE(notes("elementwise.gelu.fused").empty());
  gpu.sm.tensor_flop_per_clk[DType::bf16].reset();
  ASSERT_EQ(notes("elementwise.gelu.fused").size(), 1U);
  EXPECT_EQ(notes("elementwise.gelu.fused")[0],
            "test-gpu has no arithmetic in bf16: what emulates it is not counted");
  EXPECT_TRUE(notes("stream.copy").empty());
}

// Any variant with any shape it takes.
struct AnyShape {
  KernelRef kernel;
  Problem problem;
};

AnyShape any_shape() {
  std::vector<KernelRef> kernels;
  for (const KernelFamily& family : catalog()) {
    for (const KernelModel& kernel : family.variants) kernels.push_back({&family, &kernel});
  }
  const KernelRef kernel = *rc::gen::elementOf(kernels);
  Problem problem;
  problem.dtype =
      *rc::gen::elementOf(std::vector<DType>(kernel.dtypes().begin(), kernel.dtypes().end()));
  const auto required = [](const Parameter& each) { return !each.fallback && !each.is_text; };
  const auto parameters = kernel.parameters();
  const auto extents = std::count_if(parameters.begin(), parameters.end(), required);
  const std::int64_t largest = extents > 1 ? 20000 : std::int64_t{1} << 32;
  unsigned given = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_text) {
      problem.text = Text("x*sigmoid(x)");
      given |= 1U << i;
    }
    if (!required(parameters[i])) continue;
    problem[i] = *rc::gen::inRange<std::int64_t>(parameters[i].minimum,
                                                 std::min(largest, parameters[i].maximum));
    given |= 1U << i;
  }
  check(kernel, problem, given);
  try {
    problem = with_settings(kernel, problem, testing::hopper_like());
  } catch (const InputError& impossible) {
    RC_DISCARD(impossible.what());
  }
  return {kernel, problem};
}

RC_GTEST_PROP(PredictProperty, TimeIsAtLeastEveryBoundAndInsideItsInterval, ()) {
  const AnyShape q = any_shape();
  const Prediction p = predict(q.kernel, q.problem, testing::hopper_like());
  RC_ASSERT(p.time.has_value());
  for (const double term_s : p.limit.terms) {
    if (p.launches == 1) RC_ASSERT(p.limit.time_s >= term_s);
  }
  RC_ASSERT(p.time->expected_s >= p.limit.time_s);
  RC_ASSERT(p.time->low_s <= p.time->expected_s);
  RC_ASSERT(p.time->low_s >= p.limit.time_s);
  RC_ASSERT(p.time->high_s >= p.time->expected_s);
  RC_ASSERT(std::isfinite(p.time->high_s));
}

RC_GTEST_PROP(PredictProperty, BytesAreAtLeastCompulsory, ()) {
  const AnyShape q = any_shape();
  const Prediction p =
      predict(q.kernel, q.problem, testing::hopper_like(), {.cache = CacheState::steady});
  // A uniform gather draws some places of its table twice and others never.
  if (q.kernel.kernel->name != "access.gather") {
    RC_ASSERT(p.work.dram.read_bytes >= p.work.compulsory.read_bytes * (1 - 1e-12));
  }
  RC_ASSERT(p.work.requested.total_bytes() >= p.work.compulsory.total_bytes() * (1 - 1e-12));
  RC_ASSERT(p.work.l2.total_bytes() >= p.work.compulsory.total_bytes() * (1 - 1e-12));
  RC_ASSERT(p.io.lower_bound_bytes >= p.work.compulsory.total_bytes() * (1 - 1e-12));
}

// A device with nearly free DRAM: as fast as if all data were in L2.
Gpu all_resident() {
  Gpu gpu = testing::hopper_like();
  gpu.memory.dram_bandwidth_bytes_per_s = 1e18;
  gpu.latency.dram_cycles = gpu.latency.l2_cycles;
  return gpu;
}

RC_GTEST_PROP(PredictProperty, WarmIsBetweenColdAndAllResident, ()) {
  const AnyShape q = any_shape();
  const Gpu gpu = testing::hopper_like();
  const Prediction cold = predict(q.kernel, q.problem, gpu);
  const Prediction warm = predict(q.kernel, q.problem, gpu, {.cache = CacheState::warm});
  const Prediction resident = predict(q.kernel, q.problem, all_resident());
  constexpr double kRounding = 1 + 1e-12;
  constexpr double kSolved = 1 + 1e-6;  // as exactly as the network's equation is
  RC_ASSERT(warm.limit.time_s <= cold.limit.time_s * kRounding);
  RC_ASSERT(warm.time->expected_s <= cold.time->expected_s * kSolved);
  RC_ASSERT(warm.time->expected_s >= warm.limit.time_s);
  RC_ASSERT(warm.time->expected_s * kSolved >= resident.time->expected_s);
  RC_ASSERT(warm.work.dram.read_bytes >= 0);
  RC_ASSERT(warm.work.dram.read_bytes <= cold.work.dram.read_bytes * kRounding);
  if (!activation_of(q.kernel.kernel->plan(cold.problem, gpu))) {
    RC_ASSERT(warm.time->expected_s == cold.time->expected_s);
    RC_ASSERT(warm.limit.time_s == cold.limit.time_s);
  }
}

RC_GTEST_PROP(PredictProperty, MoreBandwidthIsNeverSlower, ()) {
  const AnyShape q = any_shape();
  const Gpu slow = testing::hopper_like();
  Gpu fast = slow;
  *fast.memory.dram_bandwidth_bytes_per_s *= *rc::gen::inRange(101, 400) / 100.0;
  const Prediction before = predict(q.kernel, q.problem, slow);
  const Prediction after = predict(q.kernel, q.problem, fast);
  RC_ASSERT(after.limit.time_s <= before.limit.time_s);
  // The network is solved to a millionth, and its waits are approximations.
  RC_ASSERT(after.time->expected_s <= before.time->expected_s * 1.01);
}

RC_GTEST_PROP(PredictProperty, WavesHoldEveryBlock, ()) {
  const AnyShape q = any_shape();
  const Prediction p = predict(q.kernel, q.problem, testing::hopper_like());
  const double capacity = static_cast<double>(p.occupancy->blocks_per_sm * 132);
  RC_ASSERT(std::ceil(p.waves->count) * capacity >= static_cast<double>(p.launch->blocks()));
  RC_ASSERT(p.waves->efficiency > 0);
  RC_ASSERT(p.waves->efficiency <= 1);
  RC_ASSERT(p.waves->tail_utilization > 0);
  RC_ASSERT(p.waves->tail_utilization <= 1);
}

}  // namespace
}  // namespace roofcast
