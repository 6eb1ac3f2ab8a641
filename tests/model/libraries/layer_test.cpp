// Kernels between the products of a transformer, by counts worked out by hand.
#include "model/libraries/layer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/libraries/gemm.hpp"
#include "model/roofcast.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

using testing::hopper_like;

/// 1000 rows of 4096 elements of bf16, with `of` where a kernel has that.
Problem matrix(std::int64_t pass = 0, std::int64_t form = 0, std::int64_t of = 0) {
  return {.dtype = DType::bf16, .values = {1000, 4096, pass, form, of}};
}

constexpr double kMatrix = 1000.0 * 4096;

struct Moved {
  double read = 0, written = 0, launches = 0, flops = 0;
};

// Summed over all launches; a launch counts each byte of an array once.
Moved moved(const char* kernel, const Problem& problem) {
  Moved sum;
  for (const Launched& node : find_kernel(kernel).kernel->plan(problem, hopper_like())) {
    for (const ArrayUse& use : node.plan.arrays) {
      sum.read += node.repeats * use.footprint.read_bytes;
      sum.written += node.repeats * use.footprint.write_bytes;
    }
    sum.launches += node.repeats;
    sum.flops += node.repeats * (node.plan.useful.vector_flops + node.plan.useful.special_flops);
  }
  return sum;
}

void expect_moved(const char* kernel, const Problem& problem, double launches, double read,
                  double written) {
  const Moved found = moved(kernel, problem);
  EXPECT_DOUBLE_EQ(found.launches, launches) << kernel;
  EXPECT_NEAR(found.read, read, 1e-9 * read) << kernel;
  EXPECT_NEAR(found.written, written, 1e-9 * written) << kernel;
}

enum : std::int64_t { kFused, kEager };

TEST(LayerKernels, RotaryReadsAndWritesItsMatrix) {
  expect_moved("layer.rotary", matrix(), 1, 2 * kMatrix, 2 * kMatrix);
  // Queries and keys are a half of the matrix each. For each: half of it is negated, the halves are
  // joined, two products, and a sum that reads both.
  const double passes = 2 * (0.25 + 0.5 + 2 * 0.5);
  expect_moved("layer.rotary", matrix(kForward, kEager), 10, 2 * kMatrix * (passes + 2),
               2 * kMatrix * (passes + 1));
}

TEST(LayerKernels, SwigluReadsGateAndUp) {
  expect_moved("layer.swiglu", matrix(), 1, 4 * kMatrix, 2 * kMatrix);
  expect_moved("layer.swiglu", matrix(kBackward), 1, 6 * kMatrix, 4 * kMatrix);
  expect_moved("layer.swiglu", matrix(kForward, kEager), 2, 6 * kMatrix, 4 * kMatrix);
  expect_moved("layer.swiglu", matrix(kBackward, kEager), 3, 12 * kMatrix, 6 * kMatrix);
  // exp and a reciprocal, two operations of the vector pipe, and the product.
  EXPECT_DOUBLE_EQ(moved("layer.swiglu", matrix()).flops, 5 * kMatrix);
}

// gelu_new: ten arrays in and eight out.
TEST(LayerKernels, GeluIsOneLaunchOrEight) {
  expect_moved("layer.gelu", matrix(), 1, 2 * kMatrix, 2 * kMatrix);
  expect_moved("layer.gelu", matrix(kBackward), 1, 4 * kMatrix, 2 * kMatrix);
  expect_moved("layer.gelu_new", matrix(kForward, kEager), 8, 20 * kMatrix, 16 * kMatrix);
}

TEST(LayerKernels, ResidualNormKeepsTheSumAndItsNorm) {
  const double vector = 2 * 4096;
  expect_moved("layer.residual_norm", matrix(), 1, 4 * kMatrix + vector, 4 * kMatrix);
  // Two launches: the sum, and a norm that writes a moment of each row.
  expect_moved("layer.residual_norm", matrix(kForward, kEager), 2, 6 * kMatrix + vector,
               4 * kMatrix + 4 * 1000);
}

// Each row reads γ once, x and dy twice; L1 or L2 answers as far as they hold them.
TEST(LayerKernels, ARowThatIsSweptTwiceIsAskedForTwice) {
  const auto program = find_kernel("layer.norm_backward").kernel->plan(matrix(), hopper_like());
  const Work work = total_work(program.front().plan);
  EXPECT_DOUBLE_EQ(work.requested.read_bytes, 2 * 4 * kMatrix + 1000 * 2 * 4096 + 1000 * 8);
  EXPECT_DOUBLE_EQ(work.requested.write_bytes, 2 * kMatrix);
  EXPECT_EQ(program.front().plan.launch.blocks(), 1000);
  EXPECT_EQ(program.front().plan.launch.threads(), 128);
  EXPECT_EQ(program.size(), 2U);
}

// The gradients of γ and β: 4096 columns are 128 blocks of 32 warps, which step over 256 rows at
// once.
TEST(LayerKernels, GradientsOfParametersAreSumsOverColumns) {
  const auto sums = [] {
    return find_kernel("layer.norm_backward").kernel->plan(matrix(), hopper_like()).back().plan;
  };
  EXPECT_EQ(sums().launch.blocks(), 128);
  EXPECT_EQ(sums().launch.threads(), 1024);
  EXPECT_DOUBLE_EQ(sums().blocks.front().phases.front().repeats, 4);  // the last of 232 rows
  EXPECT_NEAR(total_work(sums()).requested.read_bytes, 4 * kMatrix + 8 * 1000, 1);
}

// The grids and blocks that torch.profiler shows (PyTorch 2.11, H100).
TEST(LayerKernels, GradientsOfParametersTakeWarpsByTheRowsAndSplitManyRows) {
  const auto launches = [](std::int64_t rows, std::int64_t cols) {
    std::vector<std::pair<std::int64_t, std::int64_t>> found;
    Problem p = matrix();
    p[layer::kRows] = rows;
    p[layer::kCols] = cols;
    const auto sequence = find_kernel("layer.norm_backward").kernel->plan(p, hopper_like());
    for (std::size_t i = 1; i < sequence.size(); ++i) {
      found.emplace_back(sequence[i].plan.launch.blocks(), sequence[i].plan.launch.threads());
    }
    return found;
  };
  using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(launches(58, 1152), (Pairs{{36, 32}}));
  EXPECT_EQ(launches(121, 2496), (Pairs{{78, 256}}));
  EXPECT_EQ(launches(254, 64), (Pairs{{2, 512}}));
  EXPECT_EQ(launches(62935, 64), (Pairs{{2, 1024}}));
  EXPECT_EQ(launches(100549, 1600).front(), (std::pair<std::int64_t, std::int64_t>{50 * 655, 32}));
  EXPECT_EQ(launches(75683, 2880), (Pairs{{90, 1024}}));  // 90 blocks: half of the SMs or more
}

TEST(LayerKernels, DropoutKeepsAByteOfMask) {
  expect_moved("layer.dropout", matrix(), 1, 2 * kMatrix, 3 * kMatrix);
  expect_moved("layer.dropout", matrix(kBackward), 1, 3 * kMatrix, 2 * kMatrix);
}

// Eager, 16-bit logits. Forward: logits to fp32, log-softmax, loss. Backward: zeros, the gradients
// of the loss and of log-softmax, and back to 16 bits.
TEST(LayerKernels, CrossEntropyAsPyTorchLaunchesIt) {
  expect_moved("layer.cross_entropy", matrix(), 1, 2 * kMatrix + 8 * 1000, 12 * 1000);
  expect_moved("layer.cross_entropy", matrix(kBackward), 1, 2 * kMatrix + 16 * 1000, 2 * kMatrix);
  expect_moved("layer.cross_entropy", matrix(kForward, kEager), 3, 6 * kMatrix + 12 * 1000,
               8 * kMatrix + 4 * 1000);
  expect_moved("layer.cross_entropy", matrix(kBackward, kEager), 4, 12 * kMatrix + 8 * 1000,
               10 * kMatrix + 4 * 1000);
  EXPECT_EQ(find_kernel("layer.cross_entropy")
                .kernel->plan(matrix(kForward, kEager), hopper_like())[1]
                .plan.launch.blocks(),
            1000);
}

// Chunks of 65536 parameters: 4000 rows of 1024 are 62.5, one launch; 1e6 rows are 15625, 48
// launches of 320 and one of the rest.
TEST(LayerKernels, AdamwGoesOverAllTensorsInChunks) {
  Problem problem = matrix();
  problem.dtype = DType::fp32;
  // The first launch counts the steps.
  expect_moved("layer.adamw", problem, 2, 16 * kMatrix, 12 * kMatrix);
  expect_moved("layer.adamw", matrix(kForward, kEager), 8, 2 * kMatrix * (5 + 2 * 2 + 3),
               2 * kMatrix * 8);
  const auto blocks = [](std::int64_t rows) {
    Problem many = matrix();
    many[layer::kRows] = rows;
    many[layer::kCols] = 1024;
    const auto program = find_kernel("layer.adamw").kernel->plan(many, hopper_like());
    std::vector<std::pair<std::int64_t, double>> launches;
    for (const Launched& node : std::span(program).subspan(1)) {
      launches.emplace_back(node.plan.launch.blocks(), node.repeats);
    }
    return launches;
  };
  EXPECT_EQ(blocks(4000), (std::vector<std::pair<std::int64_t, double>>{{63, 1}}));
  EXPECT_EQ(blocks(64), (std::vector<std::pair<std::int64_t, double>>{{1, 1}}));
  EXPECT_EQ(blocks(1000000), (std::vector<std::pair<std::int64_t, double>>{{320, 48}, {265, 1}}));
}

TEST(LayerKernels, ACacheTakesEachRowToItsPlace) {
  expect_moved("layer.cache_append", matrix(), 1, 2 * kMatrix + 8 * 1000, 2 * kMatrix);
}

// Dynamic: A is read once more for its largest element.
TEST(LayerKernels, QuantizationNarrowsTwoBytesToOne) {
  expect_moved("layer.quantize_fp8", matrix(), 1, 2 * kMatrix, kMatrix);
  expect_moved("layer.quantize_fp8", matrix(kForward, kEager), 2, 4 * kMatrix + 4 * 1000,
               kMatrix + 4 * 1000);
}

// 1000 tokens of 4096 logits, 8 experts of 12 B each.
TEST(LayerKernels, TopKWritesTheChoicesOfEachToken) {
  expect_moved("layer.top_k", matrix(kForward, kFused, 8), 1, 2 * kMatrix, 1000 * 8 * 12);
}

// A table of 2 rows: 1000 tokens reach both; of 1e6 rows 1000 tokens reach 999.5.
TEST(LayerKernels, AnEmbeddingReadsTheRowsThatAreDrawn) {
  expect_moved("layer.embedding", matrix(kForward, kFused, 2), 1, 2 * 2 * 4096 + 8 * 1000,
               2 * kMatrix);
  EXPECT_NEAR(expected_distinct(1e6, 1000), 999.5, 0.01);
}

// Two launches: zeros for the table, and few tokens added to its two rows, which are read for it.
TEST(LayerKernels, FewGradientsOfAnEmbeddingAreAddedToItsRows) {
  const double table = 2 * 2 * 4096;
  expect_moved("layer.embedding", matrix(kBackward, kFused, 2), 2, 2 * kMatrix + 8 * 1000 + table,
               2 * table);
  const auto program =
      find_kernel("layer.embedding").kernel->plan(matrix(kBackward, kFused, 2), hopper_like());
  EXPECT_EQ(program.back().plan.launch.blocks(), 128);
  EXPECT_DOUBLE_EQ(program.back().plan.blocks.front().phases.front().repeats, 32);
}

// 31 launches: zeros for the table, eight passes over indices and places, 20 over one of the two,
// sums in fp32 with a thread for each element, and these added to two rows.
TEST(LayerKernels, ManyGradientsOfAnEmbeddingAreSortedFirst) {
  Problem problem = matrix(kBackward, kFused, 2);
  problem[layer::kRows] = 4000;
  const double table = 2 * 2 * 4096, indices = 16.0 * 4000, elements = 4000.0 * 4096,
               parts =
                   4 * (2 + 400) * 4096.0;  // a row of the table each, and one for every ten rows
  expect_moved("layer.embedding", problem, 31,
               (8 + 10) * indices + 2 * elements + indices + parts + 24 * 4000,
               table + (8 + 10) * indices + parts + table);
  const auto program = find_kernel("layer.embedding").kernel->plan(problem, hopper_like());
  EXPECT_EQ(program.back().plan.launch.blocks(), 2 * 4096 / 1024);
}

// Launches as torch.profiler counts them (PyTorch 2.11, Transformers 5.17).
TEST(LayerKernels, LaunchesAreThoseOfTheProfiler) {
  const auto launches = [](const char* kernel, std::int64_t pass) {
    return moved(kernel, matrix(pass, kEager)).launches;
  };
  EXPECT_EQ(launches("layer.swiglu", kBackward), 3);
  EXPECT_EQ(launches("layer.gelu_new", kBackward), 11);
  EXPECT_EQ(launches("layer.rmsnorm_plain", kForward), 8);
  EXPECT_EQ(launches("layer.rmsnorm_plain", kBackward), 15);
  EXPECT_EQ(launches("layer.rotary", kBackward), 18);
  EXPECT_EQ(launches("layer.cross_entropy", kForward), 3);
  EXPECT_EQ(launches("layer.cross_entropy", kBackward), 4);
  EXPECT_EQ(moved("layer.top_k", matrix(kForward, kEager, 8)).launches, 7);
}

// A launch reads what the one before it wrote: L2 may hold it.
TEST(LayerKernels, EagerLaunchesHandOnTheirResult) {
  const auto program =
      find_kernel("layer.swiglu").kernel->plan(matrix(kForward, kEager), hopper_like());
  EXPECT_EQ(program[0].plan.arrays.back().array, program[1].plan.arrays.front().array);
  EXPECT_EQ(program[0].plan.arrays.back().compulsory.write_bytes, 0);
  EXPECT_EQ(program[1].plan.arrays.back().compulsory.write_bytes, 2 * kMatrix);
}

TEST(LayerKernels, AFormOfMoreLaunchesIsNoFaster) {
  for (const KernelModel& kernel : layer::kFamily.variants) {
    const KernelRef found = find_kernel(kernel.name);
    if (kernel.parameters[layer::kForm].choices.size() < 2) continue;
    Problem problem = matrix(kForward, kFused, 8);
    problem.dtype = kernel.dtypes.back();
    const double fused = predict(found, problem, hopper_like()).time->expected_s;
    problem[layer::kForm] = kEager;
    EXPECT_GE(predict(found, problem, hopper_like()).time->expected_s, fused) << kernel.name;
  }
}

// 2048 tokens of 64 elements and 1000 words: 16 chunks of 128 tokens, each with all weights.
TEST(LinearLoss, LogitsOfAChunkAreWrittenAndReadAndReplaced) {
  EXPECT_EQ(layer::loss_chunk(2048, 1000, 64), 128);
  EXPECT_EQ(layer::loss_chunk(100, 64, 64), 100);
  Problem problem{.dtype = DType::bf16, .values = {2048, 1000, kBackward, 64, 128, 128}};
  const auto program = layer::plan_linear_loss(problem, hopper_like());
  ASSERT_EQ(program.size(), 4U);
  for (const Launched& node : program) EXPECT_DOUBLE_EQ(node.repeats, 16);
  const double logits = 128.0 * 1000 * 2, weights = 1000.0 * 64 * 2, tokens = 128.0 * 64 * 2;
  EXPECT_DOUBLE_EQ(program[0].plan.arrays[2].footprint.write_bytes, logits);
  EXPECT_DOUBLE_EQ(program[1].plan.arrays[0].footprint.read_bytes, logits);
  EXPECT_DOUBLE_EQ(program[1].plan.arrays[0].footprint.write_bytes, logits);
  EXPECT_EQ(program[0].plan.arrays[2].array, program[2].plan.arrays[0].array);
  // Gradients of weights are added to those of the chunks before.
  EXPECT_DOUBLE_EQ(program[3].plan.arrays[2].footprint.write_bytes, weights);
  EXPECT_DOUBLE_EQ(program[3].plan.arrays[3].footprint.read_bytes, weights);
  double compulsory = 0;
  for (const Launched& node : program) {
    for (const ArrayUse& use : node.plan.arrays) {
      compulsory += node.repeats * (use.compulsory.read_bytes + use.compulsory.write_bytes);
    }
  }
  EXPECT_NEAR(compulsory, 2 * (16 * tokens + weights) + 2048 * (12 + 8), 1);
  const Work work = layer::linear_loss_work(problem);
  EXPECT_DOUBLE_EQ(work.tensor_flops.total(), 6.0 * 2048 * 1000 * 64);
}

TEST(LinearLoss, MovesLessThanLogitsOfAllTokens) {
  const Problem problem{.dtype = DType::bf16, .values = {8192, 32000, kForward, 4096}};
  const double chunked_s =
      predict(find_kernel("layer.linear_cross_entropy"), problem, hopper_like()).time->expected_s;
  Problem product{.dtype = DType::bf16, .values = {8192, 32000, 4096}};
  product[gemm::kBatch] = 1;
  Problem loss{.dtype = DType::bf16, .values = {8192, 32000, kForward, kEager}};
  const double pair_s =
      predict(find_kernel("gemm.library"), product, hopper_like()).time->expected_s +
      predict(find_kernel("layer.cross_entropy"), loss, hopper_like()).time->expected_s;
  EXPECT_LT(chunked_s, pair_s);
}

TEST(LayerKernels, IndicesAreSortedInEightPasses) {
  Problem problem = matrix(kBackward, kFused, 50000);
  problem[layer::kRows] = 10000;
  const auto program = find_kernel("layer.embedding").kernel->plan(problem, hopper_like());
  EXPECT_DOUBLE_EQ(program[1].repeats, 8);
  // At most one sum for each row.
  EXPECT_EQ(program[3].plan.launch.blocks(), 10000 * 4096 / 1024);
  EXPECT_EQ(program[4].plan.launch.blocks(), 10000 * 4096 / 1024);
}

// What is still dirty in L2 at the end is the last launch's alone, not that of all equal launches
// before it: 100 full launches take longer than 99 and a part.
TEST(LayerKernels, OnlyTheLastOfEqualLaunchesLeavesDirtyLines) {
  const auto time_s = [](std::int64_t rows) {
    const Problem problem{.dtype = DType::bf16, .values = {rows, 65536, kForward, kFused}};
    const Assumptions cold{.cache = CacheState::cold};
    return predict(find_kernel("layer.adamw"), problem, hopper_like(), cold).time->expected_s;
  };
  constexpr std::int64_t kRowsOfLaunch = 320;
  EXPECT_GT(time_s(100 * kRowsOfLaunch), time_s(99 * kRowsOfLaunch + 300));
}

}  // namespace
}  // namespace roofcast
