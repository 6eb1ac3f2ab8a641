#pragma once
// C[m,n] = A[m,k] · B on the tensor cores: what gemm.mma_sync, gemm.wgmma and gemm.skinny share. A
// and C are row-major. B is row-major [k,n] as for the SIMT rungs, or [n,k] (kTransposedB) as the
// weights of a linear layer are stored; A may be [k,m] (kTransposedA). Sums are fp32 and rounded
// once to the type of C: that of A and B; fp32 for tf32, bf16 for fp8. Those of int8 are int32, C
// is fp32.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/common/kernel.hpp"
#include "kernels/gemm/gemm.hpp"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {

using roofcast::gemm::tensor::kBatch;
using roofcast::gemm::tensor::kCluster;
using roofcast::gemm::tensor::kLda;
using roofcast::gemm::tensor::kLdb;
using roofcast::gemm::tensor::kLdc;
using roofcast::gemm::tensor::kSplitK;
using roofcast::gemm::tensor::kSplitRest;
using roofcast::gemm::tensor::kTransposedA;
using roofcast::gemm::tensor::kTransposedB;
using roofcast::gemm::tensor::result_type;

/// GEMMs of one size as a kernel sees them. row_*: elements from one row to the next; matrix_*:
/// from one matrix to the next.
struct Shape {
  int m, n, k;
  std::int64_t row_a, row_b, row_c;
  int matrices = 1;
  std::int64_t matrix_a = 0, matrix_b = 0, matrix_c = 0;

  /// Rows of all matrices C, one below the other.
  int rows_c() const { return matrices * m; }
};

Shape shape_of(const Problem&);
constexpr Problem tensor_configuration(DType dtype, std::int64_t tile_m, std::int64_t tile_n,
                                       std::int64_t tile_k, bool transposed_b,
                                       std::int64_t split_k = 0, std::int64_t cluster = 0,
                                       std::int64_t split_rest = 0) {
  Problem p{.dtype = dtype, .values = {0, 0, 0, tile_m, tile_n, tile_k, transposed_b ? 1 : 0}};
  p[kBatch] = 1;
  p[kSplitK] = split_k, p[kCluster] = cluster, p[kSplitRest] = split_rest;
  return p;
}

/// Empty if every tensor kernel takes the sizes, else why not.
std::string unsupported_sizes(const Problem&);
/// Empty if the current device runs a block of the launch, else why not. Empty without a device.
std::string fits_device(const Launch&);
/// Whether there is a device.
bool has_device();
/// Whether the current device has that compute capability, as code for sm_90a needs; true without a
/// device.
bool device_is(int major, int minor);
/// Error text: the tile is not compiled for the type and the layout of B. Lists the tiles that are.
std::string not_compiled(std::string_view kernel, const Problem&,
                         std::span<const Problem> compiled);

/// A, B and C; a kernel adds its scratch.
Tensors tensor_tensors(const Problem&);
void tensor_reference(const Problem&, std::span<const void* const> inputs,
                      std::span<double* const> outputs, cudaStream_t);
double tensor_tolerance(const Problem&, std::size_t output);

constexpr bool multiple_of(std::int64_t bytes, const void* address, std::int64_t row_bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(bytes) == 0 &&
         row_bytes % bytes == 0;
}
/// Concatenates arrays of one type.
template <class T, std::size_t... kCounts>
constexpr auto joined(const std::array<T, kCounts>&... lists) {
  std::array<T, (kCounts + ...)> all{};
  std::size_t i = 0;
  const auto add = [&](const auto& list) {
    for (const T& one : list) all[i++] = one;
  };
  (add(lists), ...);
  return all;
}

/// The array of compile(i) for each row i of one of the model's tables; i is a
/// std::integral_constant.
template <const auto& kTable, class Compile>
constexpr auto compiled_rows(const Compile& compile) {
  const auto all = [&compile]<std::size_t... kRows>(std::index_sequence<kRows...>) {
    return std::array{compile(std::integral_constant<std::size_t, kRows>{})...};
  };
  return all(std::make_index_sequence<std::size(kTable)>());
}

/// The configurations of a kernel's table, whose rows have a Problem `configuration`.
template <class Table>
constexpr auto configurations_of(const Table& table) {
  std::array<Problem, std::tuple_size_v<Table>> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = table[i].configuration;
  return all;
}

/// Whether the settings that choose a compiled kernel are the same; parts of k are not among them.
constexpr bool same_kernel(const Problem& a, const Problem& b) {
  for (const std::size_t i : {std::size_t{kTileM}, std::size_t{kTileN}, std::size_t{kTileK},
                              std::size_t{kCluster}, std::size_t{kTransposedB}}) {
    if (a[i] != b[i]) return false;
  }
  return a.dtype == b.dtype;
}

template <class Table>
constexpr const typename Table::value_type* find_tile(const Table& table, const Problem& p) {
  for (const auto& one : table) {
    if (same_kernel(one.configuration, p)) return &one;
  }
  return nullptr;
}

/// The catalog's entry of a tensor kernel.
constexpr KernelEntry tensor_entry(std::string_view name, std::span<const Problem> configurations,
                                   decltype(KernelEntry::unsupported) unsupported,
                                   decltype(KernelEntry::tensors) tensors,
                                   decltype(KernelEntry::launches) launches,
                                   decltype(KernelEntry::run) run) {
  return {.name = name,
          .configurations = configurations,
          .unsupported = unsupported,
          .tensors = tensors,
          .launches = launches,
          .run = run,
          .reference = tensor_reference,
          .tolerance = tensor_tolerance};
}

KernelEntry mma_sync();
KernelEntry wgmma();
KernelEntry skinny();

}  // namespace roofcast::cuda::gemm
