#include "validation/profiles/mends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "model/counting/integers.hpp"
#include "model/kernels/gemm/gemm.hpp"
#include "validation/profiles/chains.hpp"
#include "validation/profiles/forecasts.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::validation {
namespace {

constexpr std::int64_t kAligned = 64;  // elements: a 128 B line of 16-bit elements
// Share of the time that a table rounds to 0.0%.
constexpr double kNotShown = 0.0005;

const Assumptions kBetweenKernels{.cache = CacheState::warm};

using Groups = std::vector<CallGroup>;

void add_saving(Mend& mend, double saved_s, std::size_t group, std::int64_t calls) {
  mend.saved_s += saved_s;
  mend.saved_by_group_s[group] += saved_s;
  mend.calls += calls;
}

// Divides a saving among consecutive calls in proportion to their times.
void add_saving(Mend& mend, double saved_s, const std::vector<std::size_t>& calls,
                const Groups& groups) {
  const auto time_s = [&](std::size_t call) {
    return groups[call].measured_s() / static_cast<double>(groups[call].count());
  };
  double all_s = 0;
  for (const std::size_t call : calls) all_s += time_s(call);
  for (const std::size_t call : calls) add_saving(mend, saved_s * time_s(call) / all_s, call, 1);
}

bool is_product(const CallGroup& group) {
  return group.recognized && group.recognized->does == Does::product &&
         group.recognized->kernel.kernel->name == "gemm.library";
}

// Seconds that the calls would save with the problem `after`; 0 if the model forecasts no gain.
double saved_s(const CallGroup& group, const Problem& after, const Gpu& gpu) {
  const auto changed = forecast_of(*group.recognized, after, gpu, kBetweenKernels);
  if (!changed || !group.expected_s) return 0;
  const double then_s = static_cast<double>(group.count()) * profiled_s(*changed, gpu);
  return then_s < *group.expected_s ? group.measured_s() - then_s : 0;
}

// The extents of a product whose rows are not multiples of 16 B, each with its padded size.
std::map<std::int64_t, std::int64_t> ragged_extents(const Recognized& product) {
  const Problem& p = product.problem;
  const std::int64_t vector = gemm::kVectorBytes / element_bytes(p.dtype);
  const auto layout = value_named(product.kernel, p, "layout").value_or(gemm::kNN);
  std::map<std::int64_t, std::int64_t> found;
  const auto add = [&](std::size_t extent, bool is_row) {
    if (is_row && vector > 1 && p[extent] % vector != 0) {
      found[p[extent]] = ceil_div(p[extent], kAligned) * kAligned;
    }
  };
  add(gemm::kM, gemm::transposes_a(layout));
  add(gemm::kN, true);
  add(gemm::kK, layout != gemm::kTN);
  return found;
}

Problem padded(const Recognized& product, const std::map<std::int64_t, std::int64_t>& sizes) {
  Problem p = product.problem;
  for (const std::size_t extent : gemm::kExtents) {
    const auto size = sizes.find(p[extent]);
    if (size != sizes.end()) p[extent] = size->second;
  }
  set_parameter(product.kernel, p, "lda", 0);
  set_parameter(product.kernel, p, "ldb", 0);
  return p;
}

// One mend per extent; a product counts for the largest of its ragged extents.
void add_paddings(std::vector<Mend>& mends, const Groups& groups, const Gpu& gpu) {
  std::map<std::int64_t, Mend> by_extent;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const CallGroup& group = groups[i];
    if (!is_product(group)) continue;
    const auto sizes = ragged_extents(*group.recognized);
    if (sizes.empty()) continue;
    const double gain = saved_s(group, padded(*group.recognized, sizes), gpu);
    if (gain <= 0) continue;
    Mend& mend = by_extent[sizes.rbegin()->first];
    mend.what = fmt::format("pad {} to {}: rows of products become whole vectors of 16 B",
                            sizes.rbegin()->first, sizes.rbegin()->second);
    add_saving(mend, gain, i, group.count());
  }
  for (auto& [extent, mend] : by_extent) mends.push_back(std::move(mend));
}

void add_narrower(std::vector<Mend>& mends, const Groups& groups, const Gpu& gpu) {
  Mend mend{"multiply in bf16 what is multiplied in fp32"};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const CallGroup& group = groups[i];
    if (!is_product(group)) continue;
    const DType type = group.recognized->problem.dtype;
    if (type != DType::fp32 && type != DType::tf32) continue;
    Problem narrow = group.recognized->problem;
    narrow.dtype = DType::bf16;
    const double gain = saved_s(group, narrow, gpu);
    if (gain > 0) add_saving(mend, gain, i, group.count());
  }
  if (mend.calls > 0) mends.push_back(std::move(mend));
}

void add_one_pass_attention(std::vector<Mend>& mends, const std::vector<Attention>& found,
                            const Groups& groups, const Gpu& gpu) {
  Mend mend{"attention in one pass (FlashAttention, cuDNN) instead of products and a softmax"};
  std::map<std::vector<std::size_t>, double> known;  // forecast (s) by calls
  for (const Attention& one : found) {
    const auto [place, is_new] = known.emplace(one.calls, 0);
    if (is_new) {
      const Recognized fused = attention_of(one.shape, one.dtype);
      const auto forecast = forecast_of(fused, fused.problem, gpu, kBetweenKernels);
      place->second = forecast ? profiled_s(*forecast, gpu) : one.measured_s;
    }
    const double gain = one.measured_s - place->second;
    if (gain > 0) add_saving(mend, gain, one.calls, groups);
  }
  if (mend.calls > 0) mends.push_back(std::move(mend));
}

void add_fused_chains(std::vector<Mend>& mends, const std::vector<Chain>& chains,
                      const Groups& groups, const Gpu& gpu) {
  Mend mend{
      "fuse chains of elementwise kernels, a softmax or norm among them (torch.compile): what is "
      "between stays on chip"};
  std::map<std::vector<std::size_t>, double> known;  // share of the time that remains, by calls
  for (const Chain& chain : chains) {
    const auto [place, is_new] = known.emplace(chain.calls, 1);
    if (is_new) {
      const Recognized fused = moving("fused", chain.fused, Does::elementwise);
      const auto forecast = forecast_of(fused, fused.problem, gpu, kBetweenKernels);
      if (forecast) place->second = profiled_s(*forecast, gpu) / chain.expected_s;
    }
    if (place->second >= 1) continue;
    add_saving(mend, chain.measured_s * (1 - place->second), chain.calls, groups);
  }
  if (mend.calls > 0) mends.push_back(std::move(mend));
}

// Kernels with blocks of equal work whose last wave is not full.
void add_full_waves(std::vector<Mend>& mends, const Groups& groups) {
  Mend mend;
  double largest = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const CallGroup& group = groups[i];
    const bool equal_blocks = group.does == Does::product || group.does == Does::attention;
    if (!equal_blocks || !group.waves || group.waves->count <= 1) continue;
    const double gain = group.longest_kernel().time_s * (1 - group.waves->efficiency);
    add_saving(mend, gain, i, group.count());
    if (gain <= largest) continue;
    largest = gain;
    mend.what = fmt::format(
        "fill last waves, at most (most of all {}: {:.2f} waves): another batch, tile or split",
        brief_kernel_name(group.longest_kernel().name), group.waves->count);
  }
  if (mend.calls > 0) mends.push_back(std::move(mend));
}

// The GPU idles whenever a kernel ends before the next one is launched.
void add_graph(std::vector<Mend>& mends, const Trace& trace, const Gpu& gpu) {
  const double waits_s = trace.span_s - trace.busy_s;
  const double in_graph_s =
      static_cast<double>(trace.kernels) * gpu.sustained.graph_launch_s.value_or(0);
  if (trace.counted || waits_s <= in_graph_s) return;
  Mend mend{"launch the kernels in a graph: the GPU waits between them", waits_s - in_graph_s,
            trace.kernels};
  mend.saves_waiting = true;
  mends.push_back(std::move(mend));
}

}  // namespace

std::vector<Mend> mends_of(const Trace& trace, const Groups& groups, const Gpu& gpu) {
  std::vector<Mend> mends;
  add_paddings(mends, groups, gpu);
  add_narrower(mends, groups, gpu);
  const std::vector<Attention> attention = standard_attention(trace.sequence, groups);
  add_one_pass_attention(mends, attention, groups, gpu);
  add_fused_chains(mends, elementwise_chains(trace.sequence, groups, attention), groups, gpu);
  add_full_waves(mends, groups);
  add_graph(mends, trace, gpu);
  const auto of_s = [&](const Mend& mend) {
    return mend.saves_waiting ? trace.span_s : trace.busy_s;
  };
  std::erase_if(mends, [&](const Mend& mend) { return mend.saved_s < kNotShown * of_s(mend); });
  for (Mend& mend : mends) mend.total_after_s = of_s(mend) - mend.saved_s;
  std::stable_sort(mends.begin(), mends.end(),
                   [](const Mend& a, const Mend& b) { return a.saved_s > b.saved_s; });
  return mends;
}

double saved_together_s(const std::vector<Mend>& mends) {
  std::map<std::size_t, double> largest_s;
  for (const Mend& mend : mends) {
    for (const auto& [group, saved_s] : mend.saved_by_group_s) {
      largest_s[group] = std::max(largest_s[group], saved_s);
    }
  }
  return std::accumulate(largest_s.begin(), largest_s.end(), 0.0,
                         [](double sum, const auto& one) { return sum + one.second; });
}

}  // namespace roofcast::validation
