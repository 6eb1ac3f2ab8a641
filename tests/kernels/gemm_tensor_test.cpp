// The tensor-core kernels of gemm, in every tile they are compiled for: right against float64,
// writing all of C and nothing else, and the same on a second run.
//
//   TensorTest       ragged sizes, misaligned addresses, parts of k, more tiles than SMs
//   SmallTensorTest  a few of those, one run each, for compute-sanitizer (scripts/test --gpu)
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "kernels/catalog.hpp"
#include "kernels/gemm/tensor.hpp"
#include "tests/kernels/case.hpp"

namespace roofcast::cuda {
namespace {

using gemm::kSplitK;
using gemm::kSplitRest;
using gemm::kTileM;
using gemm::kTransposedA;
using gemm::kTransposedB;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const KernelEntry& tensor_entry(std::string_view name) {
  const KernelEntry* entry = find(name);
  if (entry == nullptr) throw std::invalid_argument(std::string(name));
  return *entry;
}
constexpr std::array<const char*, 3> kNames = {"gemm.mma_sync", "gemm.wgmma", "gemm.skinny"};

struct Size {
  std::int64_t m, n, k, split_k = 1, split_rest = 1;
};

std::vector<Size> sizes(const KernelEntry& entry, const Problem& configuration, bool small) {
  if (entry.name == "gemm.skinny") {
    const std::int64_t most = configuration[kTileM];
    if (small) return {{most - 1, 131, 104}, {131, most, 157, 2}, {136, most, 296, 2}};
    return {{1, 1, 1},
            {most, 1000, 4096},
            {most - 1, 136, 40},
            {1, 4099, 57},
            {most, 256, 36, 2},
            {most, 264, 300, 2},
            {most - 1, 524, 1002},
            {most - 1, 520, 1000, 5},
            {most, 12288, 512},
            // Few columns in place of few rows.
            {1000, most, 4096},
            {136, most - 1, 40},
            {4099, 1, 57},
            {524, 12, 1002, 3},
            {520, most - 1, 1000, 5}};
  }
  std::vector<Size> list =
      small ? std::vector<Size>{{131, 67, 57}, {264, 520, 136}}
            : std::vector<Size>{{1, 1, 1},      {2, 31, 33},     {127, 129, 1},  {128, 128, 128},
                                {131, 67, 257}, {257, 127, 31},  {100, 304, 40}, {517, 260, 132},
                                {3, 4, 1021},   {640, 1280, 192}};
  // More tiles than blocks, so that blocks take several; an odd number of tile rows, so that half a
  // cluster has none; k of no, one and several rounds of the ring.
  if (!small) list.push_back({2056, 8208, 72}), list.push_back({1032, 4104, 1000});
  if (entry.name != "gemm.wgmma") {
    if (small) list.push_back({1032, 3848, 72});
    return list;
  }
  list.push_back(small ? Size{200, 264, 520, 3} : Size{300, 520, 1000, 2});
  if (!small) list.push_back({130, 257, 2050, 7}), list.push_back({2056, 2056, 640, 3});
  // Tail split-K: of all tiles where no round is full, after one or several full rounds, of few and
  // many tiles, with C stored by boxes and by elements.
  list.push_back(small ? Size{200, 264, 520, 1, 3} : Size{300, 520, 1000, 1, 2});
  if (!small) {
    list.insert(list.end(), {{130, 257, 2050, 1, 7},
                             {1032, 4104, 1000, 1, 3},
                             {2056, 2568, 640, 1, 5},
                             {2056, 8208, 264, 1, 2},
                             {1031, 2057, 450, 1, 4},
                             {640, 9000, 2049, 1, 16}});
  }
  return list;
}

/// How operands lie, and the number of products. `gap`: unused elements at the end of each row.
struct Layout {
  std::int64_t transposed_a, batch, gap;
};

void lay_out(Problem& p, const Layout& layout) {
  p[kTransposedA] = layout.transposed_a, p[gemm::kBatch] = layout.batch;
  if (layout.gap == 0) return;
  p[gemm::kLda] = p[layout.transposed_a != 0 ? gemm::kM : gemm::kK] + layout.gap;
  p[gemm::kLdb] = p[p[kTransposedB] != 0 ? gemm::kK : gemm::kN] + 2 * layout.gap;
  p[gemm::kLdc] = p[gemm::kN] + layout.gap;
}

/// Whether the unused elements of the result are as they were poisoned.
bool gaps_untouched(const TestCase& one) {
  const Tensor& c = one.outputs().front();
  if (c.unused == 0) return true;
  const std::vector<std::byte> content = one.output(0).content();
  const std::size_t size = content.size() / c.elements;
  for (std::size_t i = 0; i < content.size(); ++i) {
    if (i / size % c.pitch >= c.pitch - c.unused && content[i] != std::byte{0xff}) return false;
  }
  return true;
}

/// The configurations of an entry that compute in `dtype`.
class TensorTest : public GpuTest {
 public:
  TensorTest(const KernelEntry& entry, DType dtype, bool small)
      : entry_(entry), dtype_(dtype), small_(small) {}
  void TestBody() override {
    for (const Problem& configuration : entry_.configurations) {
      if (configuration.dtype != dtype_) continue;
      // Copies before a product and sums after it are the same for every tile.
      const bool laid_out_ways = !small_ || problems_ == 0;
      for (const Size& size : sizes(entry_, configuration, small_)) {
        Problem p = configuration;
        p[gemm::kM] = size.m, p[gemm::kN] = size.n, p[gemm::kK] = size.k;
        p[kSplitK] = size.split_k, p[kSplitRest] = size.split_rest;
        // Every layout of B that the kernel takes for this tile.
        for (const std::int64_t transposed : {0, 1}) {
          p[kTransposedB] = transposed;
          if (!entry_.unsupported(p).empty()) continue;
          run_and_compare(p, {0, 0});
          if (size.m * size.n > 1000000) continue;  // elsewhere once is enough
          if (!laid_out_ways) continue;
          for (const Shift shift : {Shift{1, 1}, Shift{0, 1}}) run_and_compare(p, shift);
          // A gap of 6 makes rows of 1002 and 524 or 12 multiples of 16 bytes.
          for (const Layout& layout :
               {Layout{1, 1, 0}, {0, 3, 0}, {0, 1, 6}, {0, 1, 8}, {1, 2, 5}}) {
            Problem laid_out = p;
            lay_out(laid_out, layout);
            run_and_compare(laid_out, {0, 0});
          }
        }
      }
    }
    EXPECT_GT(problems_, 0U);
    std::printf("             %s %s: %zu problems, largest error %.3f of the tolerance, at %s\n",
                std::string(entry_.name).c_str(), std::string(name(dtype_)).c_str(), problems_,
                worst_, worst_at_.c_str());
  }

 private:
  static constexpr int kMostFailures = 8;  // some reports, not thousands

  void run_and_compare(const Problem& problem, Shift shift) {
    if (failures_ >= kMostFailures) return;
    const std::string where = text(problem) + ", shifted by " + std::to_string(shift.inputs) +
                              ", " + std::to_string(shift.outputs);
    SCOPED_TRACE(where);
    const TestCase one(entry_, problem, shift);
    one.run();
    const double share = one.error_over_tolerance(0);
    EXPECT_LE(share, 1) << "error " << one.error(0) << " of its largest value";
    bool same = true;
    if (!small_) {
      const auto before = one.output(0).content();
      one.run();
      same = one.output(0).content() == before;
    }
    const bool untouched = one.zones_untouched() && gaps_untouched(one);
    EXPECT_TRUE(same) << "a second run differs";
    EXPECT_TRUE(untouched) << "memory outside the tensors was written";
    if (!(share <= 1) || !same || !untouched) ++failures_;
    if (share > worst_) worst_ = share, worst_at_ = where;
    ++problems_;
  }

  const KernelEntry& entry_;
  DType dtype_;
  bool small_;
  std::size_t problems_ = 0;
  int failures_ = 0;
  double worst_ = 0;
  std::string worst_at_ = "none";
};

const bool kRegistered = [] {
  for (const char* entry_name : kNames) {
    const KernelEntry& entry = tensor_entry(entry_name);
    std::set<DType> dtypes;
    for (const Problem& configuration : entry.configurations) dtypes.insert(configuration.dtype);
    for (const DType dtype : dtypes) {
      std::string test = std::string(entry.name) + "_" + std::string(name(dtype));
      std::replace(test.begin(), test.end(), '.', '_');
      for (const bool small : {true, false}) {
        ::testing::RegisterTest(small ? "SmallTensorTest" : "TensorTest", test.c_str(), nullptr,
                                nullptr, __FILE__, __LINE__,
                                [&entry, dtype, small]() -> TensorTest* {
                                  return new TensorTest(entry, dtype, small);
                                });
      }
    }
  }
  return true;
}();

// Without a GPU: what is refused and why.

Problem with_sizes(Problem p, std::int64_t m, std::int64_t n, std::int64_t k) {
  p[gemm::kM] = m, p[gemm::kN] = n, p[gemm::kK] = k;
  return p;
}
TEST(TensorEntriesTest, AnUnsupportedTileOrTypeIsNamed) {
  for (const char* name : {"gemm.mma_sync", "gemm.wgmma"}) {
    const KernelEntry& entry = tensor_entry(name);
    Problem p = with_sizes(entry.configurations.front(), 100, 200, 300);
    p[kTileM] = 7;
    EXPECT_THAT(entry.unsupported(p), AllOf(HasSubstr("128x256x64"), HasSubstr("7x256x64")));
    p.dtype = DType::fp4;
    EXPECT_THAT(entry.unsupported(p), HasSubstr("fp4"));
  }
}

TEST(TensorEntriesTest, SkinnyWantsFewRowsOrColumns) {
  const KernelEntry& skinny = tensor_entry("gemm.skinny");
  const Problem eight = skinny.configurations.front();
  EXPECT_THAT(skinny.unsupported(with_sizes(eight, 8, 4096, 4096)), IsEmpty());
  // A block takes 64 columns of [k,n] weights, or 16 rows of A where A holds the weights.
  const Problem rows = gemm::tensor_configuration(DType::bf16, 8, 16, 32, false, 1);
  EXPECT_THAT(skinny.unsupported(with_sizes(rows, 4096, 8, 4096)), IsEmpty());
  EXPECT_THAT(skinny.unsupported(with_sizes(rows, 8, 4096, 4096)), HasSubstr("8x64x32"));
  EXPECT_THAT(skinny.unsupported(with_sizes(eight, 9, 4096, 4096)), HasSubstr("at most tile_m"));
  EXPECT_THAT(skinny.unsupported(with_sizes(eight, 65, 65, 4096)), HasSubstr("at most 64"));
  Problem split = with_sizes(eight, 8, 4096, 64);
  split[kSplitK] = 3;
  EXPECT_THAT(skinny.unsupported(split), HasSubstr("from 1 to the steps of 32 k: 2"));
}

TEST(TensorEntriesTest, OneSplitAtMostAndNoneLongerThanK) {
  const KernelEntry& wgmma = tensor_entry("gemm.wgmma");
  Problem p =
      with_sizes(gemm::tensor_configuration(DType::bf16, 128, 256, 64, false, 1, 1), 100, 200, 304);
  EXPECT_THAT(wgmma.unsupported(p), HasSubstr("split_rest must be from 1 to the tiles of k: 5"));
  p[kSplitRest] = 6;
  EXPECT_THAT(wgmma.unsupported(p), HasSubstr("split_rest must be from 1 to the tiles of k: 5"));
  p[kSplitRest] = 5;
  EXPECT_THAT(wgmma.unsupported(p), Not(HasSubstr("split_rest")));
  p[kSplitK] = 2;
  EXPECT_THAT(wgmma.unsupported(p), HasSubstr("give one of them"));
}

TEST(TensorEntriesTest, ScratchHoldsWhatIsCopiedAndTheParts) {
  const KernelEntry& wgmma = tensor_entry("gemm.wgmma");
  Problem p =
      with_sizes(gemm::tensor_configuration(DType::bf16, 128, 256, 64, false, 1, 1), 100, 200, 304);
  EXPECT_TRUE(wgmma.tensors(p).scratch.empty());
  p[gemm::kK] = 300;  // rows of A are no multiple of 16 bytes: copied to rows of 320
  ASSERT_EQ(wgmma.tensors(p).scratch.size(), 1U);
  EXPECT_EQ(wgmma.tensors(p).scratch[0].elements, 100U * 320U);
  p[kSplitK] = 2;
  ASSERT_EQ(wgmma.tensors(p).scratch.size(), 2U);
  EXPECT_EQ(wgmma.tensors(p).scratch[1].elements, 2U * 100U * 200U);
  EXPECT_EQ(wgmma.tensors(p).scratch[1].dtype, DType::fp32);
  // Fewer tiles than SMs: all are split, and stored whole. The last part stays in registers; each
  // of the two others has a flag of 8 bytes for each warpgroup, and 16 bytes align them all.
  p[kSplitK] = 1, p[kSplitRest] = 3;
  ASSERT_EQ(wgmma.tensors(p).scratch.size(), 2U);
  EXPECT_EQ(wgmma.tensors(p).scratch[1].elements, 2U * (128U * 256U + 2 * 2) + 4);
  EXPECT_EQ(wgmma.tensors(p).scratch[1].dtype, DType::fp32);
  // tf32 by rows of k is transposed: 200 rows of 320.
  p = with_sizes(gemm::tensor_configuration(DType::tf32, 128, 256, 32, false, 1, 1), 100, 200, 304);
  ASSERT_EQ(wgmma.tensors(p).scratch.size(), 1U);
  EXPECT_EQ(wgmma.tensors(p).scratch[0].elements, 200U * 320U);
}

TEST(TensorEntriesTest, BatchesAndLeadingDimensionsAreChecked) {
  for (const char* name : kNames) {
    const KernelEntry& entry = tensor_entry(name);
    Problem p = with_sizes(entry.configurations.front(), 8, 200, 304);
    EXPECT_THAT(entry.unsupported(p), Not(HasSubstr("batch")));
    p[gemm::kBatch] = 65536;
    EXPECT_THAT(entry.unsupported(p), HasSubstr("batch must be from 1 to 65535"));
    p[gemm::kBatch] = 3, p[gemm::kLdc] = 199;
    EXPECT_THAT(entry.unsupported(p), HasSubstr("ldc is 199 and a row holds 200 elements"));
    p[gemm::kLdc] = 210;
    const Tensor c = entry.tensors(p).outputs.front();
    EXPECT_EQ(c.elements, 3U * 8U * 210U);
    EXPECT_EQ(c.pitch, 210U);
    EXPECT_EQ(c.unused, 10U);
  }
}

TEST(TensorEntriesTest, TolerancesRefuseZerosAtTheLargestSizes) {
  for (const char* kernel : kNames) {
    const KernelEntry& entry = tensor_entry(kernel);
    for (const Problem& configuration : entry.configurations) {
      const double tolerance = entry.tolerance(with_sizes(configuration, 16384, 16384, 16384), 0);
      EXPECT_GT(tolerance, 0);
      EXPECT_LT(tolerance, 0.125) << entry.name << " " << name(configuration.dtype);
    }
  }
}

}  // namespace
}  // namespace roofcast::cuda
