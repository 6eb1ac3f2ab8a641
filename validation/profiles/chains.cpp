#include "validation/profiles/chains.hpp"

#include <algorithm>
#include <array>

#include "model/kernels/gemm/gemm.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::validation {
namespace {

struct SoftmaxRows {
  std::int64_t batch, queries, keys;
  bool backward;
};

std::optional<SoftmaxRows> softmax_of(const CallGroup& group) {
  const std::string& name = group.call.name;
  const bool backward = name == "aten::_softmax_backward_data";
  if (name != "aten::_softmax" && !backward) return std::nullopt;
  if (group.call.inputs.empty() || !dtype_of(group.call.inputs.front())) return std::nullopt;
  const auto& dims = group.call.inputs.front().dims;
  const std::size_t n = dims.size();
  if (n < 3) return std::nullopt;
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + 2 < n; ++i) {
    if (__builtin_mul_overflow(batch, dims[i], &batch)) return std::nullopt;
  }
  return SoftmaxRows{batch, dims[n - 2], dims[n - 1], backward};
}

// The head dimension: the product's extent that is neither queries nor keys.
std::optional<std::int64_t> head_of(const CallGroup& group, const SoftmaxRows& softmax) {
  if (!group.recognized || group.recognized->does != Does::product) return std::nullopt;
  const Recognized& product = *group.recognized;
  const auto batch = value_named(product.kernel, product.problem, "batch");
  if (batch.value_or(1) != softmax.batch) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const std::size_t extent : gemm::kExtents) extents.push_back(product.problem[extent]);
  for (const std::int64_t wanted : {softmax.queries, softmax.keys}) {
    const auto found = std::find(extents.begin(), extents.end(), wanted);
    if (found == extents.end()) return std::nullopt;
    extents.erase(found);
  }
  return extents.front();
}

bool masks(const CallGroup& group) {
  constexpr std::array<std::string_view, 5> kMasks = {"aten::masked_fill", "aten::masked_fill_",
                                                      "aten::where", "aten::add", "aten::add_"};
  return std::find(kMasks.begin(), kMasks.end(), group.call.name) != kMasks.end();
}

std::optional<double> elements_of_link(const CallGroup& group) {
  const bool links = group.does == Does::elementwise || group.does == Does::rows;
  const bool known =
      links && group.recognized && group.expected_s && group.forecast && group.call.by_operator;
  if (!known) return std::nullopt;
  double most = 0;
  for (const TensorShape& input : group.call.inputs) {
    if (!input.dims.empty()) most = std::max(most, elements_of(input));
  }
  return most;
}

void add_link(Chain& chain, std::size_t call, double time_s, const CallGroup& group) {
  const Traffic bytes = group.forecast->work.compulsory;
  const double between =
      chain.calls.empty() ? 0 : std::min(chain.fused.write_bytes, bytes.read_bytes);
  chain.fused.read_bytes += bytes.read_bytes - between;
  chain.fused.write_bytes += bytes.write_bytes - between;
  chain.calls.push_back(call);
  chain.measured_s += time_s;
  chain.expected_s += *group.expected_s / static_cast<double>(group.count());
}

void close(std::vector<Chain>& chains, Chain& chain, const std::vector<CallGroup>& groups) {
  if (chain.calls.size() > 1) {
    double largest = 0;
    for (const std::size_t call : chain.calls) {
      largest = std::max(largest, groups[call].forecast->work.compulsory.total_bytes());
    }
    const double short_by = largest - chain.fused.total_bytes();
    if (short_by > 0) chain.fused.read_bytes += short_by;
    chains.push_back(std::move(chain));
  }
  chain = {};
}

// Products of an attention before or after its softmax; `farthest` is a position in the sequence.
struct Products {
  std::size_t count = 0, farthest = 0;
  std::int64_t head = 0;
};

// The nearest `wanted` products of this softmax; stops at any other product or softmax.
Products products_from(const std::vector<CallInTime>& sequence,
                       const std::vector<CallGroup>& groups, const SoftmaxRows& softmax,
                       std::size_t wanted, std::size_t at, std::ptrdiff_t step, std::size_t end) {
  Products found;
  while (at != end && found.count < wanted) {
    at += static_cast<std::size_t>(step);
    const CallGroup& group = groups[sequence[at].call];
    if (const auto head = head_of(group, softmax)) {
      ++found.count;
      found.farthest = at;
      found.head = *head;
    } else if (group.does == Does::product || softmax_of(group)) {
      break;
    }
  }
  return found;
}

}  // namespace

std::vector<Attention> standard_attention(const std::vector<CallInTime>& sequence,
                                          const std::vector<CallGroup>& groups) {
  std::vector<Attention> found;
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    const auto softmax = softmax_of(groups[sequence[at].call]);
    if (!softmax) continue;
    const std::size_t wanted = softmax->backward ? 2 : 1;
    const std::size_t begin = found.empty() ? 0 : found.back().last;
    const Products before = products_from(sequence, groups, *softmax, wanted, at, -1, begin);
    const Products after =
        products_from(sequence, groups, *softmax, wanted, at, 1, sequence.size() - 1);
    if (before.count == 0 || after.count == 0) continue;
    Attention one{before.farthest, after.farthest};
    bool masked = false;
    for (std::size_t i = one.first; i <= one.last; ++i) {
      one.calls.push_back(sequence[i].call);
      one.measured_s += sequence[i].time_s;
      masked = masked || masks(groups[sequence[i].call]);
    }
    one.shape.heads = softmax->batch;
    one.shape.kv_heads = softmax->batch;
    one.shape.seq_q = softmax->queries;
    one.shape.seq_kv = softmax->keys;
    one.shape.head_dim = before.head;
    one.shape.causal = masked && softmax->queries == softmax->keys;
    one.shape.backward = softmax->backward;
    // The type is that of the products: the softmax may be in fp32.
    one.dtype = groups[sequence[one.first].call].recognized->problem.dtype;
    if (one.dtype != DType::fp16) one.dtype = DType::bf16;
    found.push_back(std::move(one));
  }
  return found;
}

std::vector<Chain> elementwise_chains(const std::vector<CallInTime>& sequence,
                                      const std::vector<CallGroup>& groups,
                                      const std::vector<Attention>& attention) {
  std::vector<Chain> chains;
  Chain open;
  double elements = 0;
  bool has_rows = false;
  auto inside = attention.begin();
  for (std::size_t at = 0; at < sequence.size(); ++at) {
    while (inside != attention.end() && inside->last < at) ++inside;
    const bool taken = inside != attention.end() && inside->first <= at;
    const std::size_t call = sequence[at].call;
    const auto own = taken ? std::nullopt : elements_of_link(groups[call]);
    const bool rows = own && groups[call].does == Does::rows;
    if (!own || *own != elements || (rows && has_rows)) {
      close(chains, open, groups);
      has_rows = false;
    }
    has_rows = has_rows || rows;
    if (!own) continue;
    elements = *own;
    add_link(open, call, sequence[at].time_s, groups[call]);
  }
  close(chains, open, groups);
  return chains;
}

}  // namespace roofcast::validation
