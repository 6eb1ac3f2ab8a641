// attention.flash3, backward: the tiles that its kernels are compiled for, and their launches.
// Three kernels: D and the log-sum-exp of each row; dK and dV, with the sums of dQ in memory; dQ
// from those sums. With dq = two_pass, dQ comes from a second pass over the queries instead.
#include "kernels/attention/flash3_backward.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/attention/flash3_backward_keys.cuh"
#include "kernels/attention/flash3_backward_passes.hpp"
#include "kernels/attention/flash3_backward_queries.cuh"
#include "kernels/attention/head_map.hpp"
#include "kernels/common/error.hpp"
#include "model/counting/integers.hpp"

namespace roofcast::cuda::attention::flash3_backward {
namespace {

using roofcast::attention::flash3_heads_together;
using roofcast::attention::head_row;
using roofcast::attention::kAtomic;
using roofcast::attention::kDq;
using roofcast::attention::kFlash3BackwardTiles;
using roofcast::attention::kFlash3DqTiles;
using roofcast::attention::kHeadDim;
using roofcast::attention::kHeadDims;
using roofcast::attention::padded_queries;

constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();

struct Kernel {
  const void* function;
  int queries, keys, threads, shared_bytes, box_keys;
};
/// The kernels of a type and head dim: dK and dV with the sums of dQ, without them, and dQ alone.
struct Kernels {
  Kernel keys_and_dq, keys, queries;
};

template <class T>
Kernel keys_of() {
  return {reinterpret_cast<const void*>(keys_kernel<T>),
          T::kQueries,
          T::kKeys,
          T::kThreads,
          T::kSharedBytes,
          kBoxRows};
}
template <class Element, std::size_t kRow>
Kernels compiled() {
  using Q = QueriesTile<Element, kFlash3DqTiles[kRow]>;
  static_assert(kFlash3BackwardTiles[kRow].head_dim == kHeadDims[kRow] &&
                kFlash3DqTiles[kRow].head_dim == kHeadDims[kRow]);
  return {keys_of<KeysTile<Element, kFlash3BackwardTiles[kRow], true>>(),
          keys_of<KeysTile<Element, kFlash3BackwardTiles[kRow], false>>(),
          {reinterpret_cast<const void*>(queries_kernel<Q>), Q::kQueries, Q::kKeys, Q::kThreads,
           Q::kSharedBytes, Q::kKeyBox}};
}
template <class Element>
Kernels compiled(std::size_t row) {
  return [&]<std::size_t... kRows>(std::index_sequence<kRows...>) {
    return std::array{compiled<Element, kRows>()...}[row];
  }
  (std::make_index_sequence<kHeadDims.size()>());
}

/// A problem as the kernels see it.
struct Plan {
  explicit Plan(const Problem& p)
      : shape(p),
        atomic(p[kDq] == kAtomic),
        row(head_row(shape.head_dim)),
        kernels(p.dtype == DType::fp16 ? compiled<__half>(row) : compiled<__nv_bfloat16>(row)),
        rows{shape.batch * shape.heads,
             shape.seq_q,
             padded_queries(shape.seq_q),
             shape.head_dim,
             kHeadDims[row],
             p.dtype} {}

  std::int64_t q_heads() const { return rows.heads; }
  std::int64_t kv_heads() const { return shape.batch * shape.kv_heads; }
  /// Number of padded rows: values of the log-sum-exp, and of D.
  std::int64_t row_values() const { return rows.heads * rows.rows; }
  std::int64_t dq_sums() const { return row_values() * rows.compiled_dim; }

  /// Tiles of keys of all heads of K and V; tiles of queries of all query heads.
  std::int64_t key_blocks() const {
    return ceil_div(shape.seq_kv, std::int64_t{kernels.keys.keys}) * kv_heads();
  }
  std::int64_t query_blocks() const {
    return ceil_div(shape.seq_q, std::int64_t{kernels.queries.queries}) * q_heads();
  }
  const Kernel& key_pass() const { return atomic ? kernels.keys_and_dq : kernels.keys; }

  Work work(bool of_keys) const {
    // Bytes that each block of a head reads, per element of the head dim: Q and dO, and the sums
    // of dQ; or K and V.
    const std::int64_t read =
        of_keys ? shape.group() * shape.seq_q * (atomic ? 8 : 4) : shape.seq_kv * 4;
    const std::int64_t heads = of_keys ? kv_heads() : q_heads();
    return {.seq_q = static_cast<int>(shape.seq_q),
            .seq_kv = static_cast<int>(shape.seq_kv),
            .rows = static_cast<int>(rows.rows),
            .heads = static_cast<int>(heads),
            .group = static_cast<int>(shape.group()),
            .together = static_cast<int>(flash3_heads_together(heads, read * shape.head_dim)),
            .causal = shape.causal,
            .scale = static_cast<float>(1 / std::sqrt(static_cast<double>(shape.head_dim))),
            .lse = nullptr,
            .d = nullptr,
            .dq = nullptr};
  }

  Shape shape;
  bool atomic;
  std::size_t row;  ///< row in the tables of tiles
  Kernels kernels;
  QueryRows rows;
};

Launch launch_of(const Kernel& kernel, std::int64_t blocks) {
  return {kernel.function, dim3(static_cast<unsigned>(blocks)),
          dim3(static_cast<unsigned>(kernel.threads)),
          static_cast<std::size_t>(kernel.shared_bytes)};
}

}  // namespace

std::string unsupported(const Problem& p) {
  const Plan plan(p);
  const Launch first = prepare_launch(plan.rows);
  if (plan.key_blocks() > kMostBlocks || plan.query_blocks() > kMostBlocks ||
      plan.dq_sums() / 8 / first.block.x >= kMostBlocks) {
    return "too many tiles for one grid: use a smaller batch";
  }
  return {};
}

void add_scratch(Tensors& tensors, const Problem& p) {
  const Plan plan(p);
  const auto add = [&](std::int64_t floats) {
    tensors.scratch.push_back({DType::fp32, static_cast<std::size_t>(floats)});
  };
  add(2 * plan.row_values());
  if (plan.atomic) add(plan.dq_sums());
}

std::vector<Launch> launches(const Problem& p) {
  const Plan plan(p);
  return {prepare_launch(plan.rows), launch_of(plan.key_pass(), plan.key_blocks()),
          plan.atomic ? convert_dq_launch(plan.rows)
                      : launch_of(plan.kernels.queries, plan.query_blocks())};
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Plan plan(p);
  const Shape& s = plan.shape;
  const void* const* const in = at.inputs.data();
  void* const* const out = at.outputs.data();
  auto* const lse = static_cast<float*>(at.scratch[0]);
  float* const d = lse + plan.row_values();
  float* const sums = plan.atomic ? static_cast<float*>(at.scratch[1]) : nullptr;

  const auto of_queries = [&](const void* data) {
    return head_map(p.dtype, data, plan.q_heads(), s.seq_q, s.head_dim, kBoxRows);
  };
  const auto of_keys = [&](const void* data, int box_rows) {
    return head_map(p.dtype, data, plan.kv_heads(), s.seq_kv, s.head_dim, box_rows);
  };
  CUtensorMap q_map = of_queries(in[kQ]), grad_map = of_queries(in[kDO]);

  prepare(plan.rows, in[kO], in[kDO], static_cast<const float*>(in[kLse]), lse, d, sums, stream);
  const auto launch = [&](const Kernel& kernel, std::int64_t blocks, void** arguments) {
    const Launch one = launch_of(kernel, blocks);
    rows::launch(one.function, one.grid, one.block, arguments, stream,
                 {.shared_bytes = one.shared_bytes});
  };
  const auto told = [&](bool keys) {
    Work work = plan.work(keys);
    work.lse = lse, work.d = d, work.dq = sums;
    return work;
  };
  {
    const Kernel& kernel = plan.key_pass();
    CUtensorMap k_map = of_keys(in[kK], kernel.box_keys), v_map = of_keys(in[kV], kernel.box_keys);
    CUtensorMap dk_map = of_keys(out[kOutDK], kBoxRows), dv_map = of_keys(out[kOutDV], kBoxRows);
    Work work = told(true);
    void* arguments[] = {&q_map, &k_map, &v_map, &grad_map, &dk_map, &dv_map, &work};
    launch(kernel, plan.key_blocks(), arguments);
  }
  if (plan.atomic) {
    const float scale = plan.work(true).scale;
    convert_dq(plan.rows, sums, plan.key_pass().queries, scale, out[kOutDQ], stream);
  } else {
    const Kernel& kernel = plan.kernels.queries;
    CUtensorMap k_map = of_keys(in[kK], kernel.box_keys), v_map = of_keys(in[kV], kernel.box_keys);
    CUtensorMap dq_map = of_queries(out[kOutDQ]);
    Work work = told(false);
    void* arguments[] = {&q_map, &k_map, &v_map, &grad_map, &dq_map, &work};
    launch(kernel, plan.query_blocks(), arguments);
  }
}

}  // namespace roofcast::cuda::attention::flash3_backward
