#include "validation/profiles/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/counting/integers.hpp"
#include "model/kernels/gemm/alignment.hpp"
#include "model/product_search.hpp"

namespace roofcast::validation {
namespace {

std::string key_of(const TracedCall& call) {
  std::string key = call.name;
  for (const TensorShape& input : call.inputs) {
    key += fmt::format("|{} {} {}", input.type, fmt::join(input.dims, ","),
                       fmt::join(input.strides, ","));
  }
  if (call.inputs.empty() && !call.kernels.empty()) key += "|" + call.kernels.front();
  return key;
}

std::optional<Prediction> forecast(const Recognized& one, const Problem& problem, const Gpu& gpu) {
  try {
    Problem checked = problem;
    check(one.kernel, checked, ~0U);
    Prediction answer = predict(one.kernel, checked, gpu, {.cache = CacheState::warm});
    if (answer.time) return answer;
  } catch (const InputError&) {
    // The GPU or the library has no kernel for it: the call stays without a forecast.
  }
  return std::nullopt;
}

std::vector<CallGroup> grouped(std::vector<TracedCall> calls) {
  std::map<std::string, std::size_t> places;
  std::vector<CallGroup> groups;
  for (TracedCall& call : calls) {
    const auto [at, is_new] = places.emplace(key_of(call), groups.size());
    if (is_new) {
      groups.push_back({std::move(call), 1, std::nullopt, std::nullopt});
      continue;
    }
    CallGroup& group = groups[at->second];
    ++group.count;
    group.call.kernels_s += call.kernels_s;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.measured_s() > b.measured_s(); });
  return groups;
}

double saved_s(const CallGroup& group, const std::optional<Prediction>& after) {
  if (!after) return 0;
  return group.measured_s() - static_cast<double>(group.count) * after->time->expected_s;
}

constexpr std::int64_t kAligned = 64;  // elements: whole lines of 16 bits

// The extents of a product whose rows break the alignment to 16 B, each rounded up.
std::map<std::int64_t, std::int64_t> ragged_extents(const Recognized& product) {
  const Problem& p = product.problem;
  const std::int64_t vector = gemm::kVectorBytes / element_bytes(p.dtype);
  const auto layout = value_named(product.kernel, p, "layout").value_or(gemm::kNN);
  std::map<std::int64_t, std::int64_t> found;
  const auto add = [&](std::size_t extent, bool is_row) {
    if (is_row && p[extent] % vector != 0) {
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
  for (const std::size_t extent : {gemm::kM, gemm::kN, gemm::kK}) {
    const auto size = sizes.find(p[extent]);
    if (size != sizes.end()) p[extent] = size->second;
  }
  const auto parameters = product.kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == "lda" || parameters[i].name == "ldb") p[i] = 0;
  }
  return p;
}

// One mend for each extent, over all products that it slows.
void add_paddings(Profile& profile, const Gpu& gpu) {
  std::map<std::int64_t, Mend> by_extent;
  for (const CallGroup& group : profile.groups) {
    if (!group.recognized || !group.recognized->is_product || !group.forecast) continue;
    const auto sizes = ragged_extents(*group.recognized);
    if (sizes.empty()) continue;
    const double gain =
        saved_s(group, forecast(*group.recognized, padded(*group.recognized, sizes), gpu));
    if (gain <= 0) continue;
    Mend& mend = by_extent[sizes.rbegin()->first];
    mend.what = fmt::format("pad {} to {}: rows of products become whole vectors of 16 B",
                            sizes.rbegin()->first, sizes.rbegin()->second);
    mend.saved_s += gain;
    mend.calls += group.count;
  }
  for (auto& [extent, mend] : by_extent) profile.mends.push_back(std::move(mend));
}

void add_narrower(Profile& profile, const Gpu& gpu) {
  Mend mend{"multiply in bf16 what is multiplied in fp32", 0, 0};
  for (const CallGroup& group : profile.groups) {
    if (!group.recognized || !group.recognized->is_product) continue;
    const DType type = group.recognized->problem.dtype;
    if (type != DType::fp32 && type != DType::tf32) continue;
    Problem narrow = group.recognized->problem;
    narrow.dtype = DType::bf16;
    const double gain = saved_s(group, forecast(*group.recognized, narrow, gpu));
    if (gain <= 0) continue;
    mend.saved_s += gain;
    mend.calls += group.count;
  }
  if (mend.calls > 0) profile.mends.push_back(std::move(mend));
}

// The GPU waits where its kernels end before the next is launched.
void add_launches(Profile& profile, const Gpu& gpu) {
  const double idle_s = profile.trace.span_s - profile.trace.busy_s;
  const double in_graph_s =
      static_cast<double>(profile.trace.kernels) * gpu.sustained.graph_launch_s.value_or(0);
  if (idle_s <= in_graph_s) return;
  profile.mends.push_back({"launch the kernels in a graph: the GPU waits between them",
                           idle_s - in_graph_s, profile.trace.kernels});
}

}  // namespace

Profile profile_of(Trace trace, const Gpu& gpu) {
  Profile profile;
  profile.groups = grouped(std::move(trace.calls));
  trace.calls.clear();
  profile.trace = std::move(trace);
  for (CallGroup& group : profile.groups) {
    group.recognized = recognize(group.call);
    if (group.recognized) {
      group.forecast = forecast(*group.recognized, group.recognized->problem, gpu);
    }
    if (!group.forecast) continue;
    profile.recognized_s += group.measured_s();
    profile.forecast_s += group.forecast_s();
  }
  add_paddings(profile, gpu);
  add_narrower(profile, gpu);
  add_launches(profile, gpu);
  std::stable_sort(profile.mends.begin(), profile.mends.end(),
                   [](const Mend& a, const Mend& b) { return a.saved_s > b.saved_s; });
  return profile;
}

}  // namespace roofcast::validation
