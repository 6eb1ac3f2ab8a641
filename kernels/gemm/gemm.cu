#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/tensor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/families.hpp"

namespace roofcast::cuda::gemm {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"m",      "n",      "k",        "tile_m",
                                                    "tile_n", "tile_k", "thread_m", "thread_n"};

bool same_tile(const Rung& rung, const Problem& a, const Problem& b) {
  return std::equal(a.values.begin() + kTileM,
                    a.values.begin() + static_cast<std::ptrdiff_t>(rung.parameters),
                    b.values.begin() + kTileM);
}

std::string tile_text(const Rung& rung, const Problem& p) {
  std::string text;
  for (std::size_t i = kTileM; i < rung.parameters; ++i) {
    if (!text.empty()) text += 'x';
    text += std::to_string(p[i]);
  }
  return text;
}

/// The tiles of C: one block each.
dim3 grid(const Rung& rung, const Problem& p) {
  const auto rows = static_cast<unsigned>(ceil_div(p[kM], p[kTileM]));
  const auto columns = static_cast<unsigned>(ceil_div(p[kN], p[kTileN]));
  switch (rung.raster) {
    case Raster::rows_on_x:
      return {rows, columns};
    case Raster::columns_on_x:
      return {columns, rows};
    default:
      return {rows * columns};
  }
}

/// 16-byte accesses need addresses and rows of A, B and C that are multiples of 16 bytes.
bool aligned_rows(const Problem& p) {
  return p[kN] % 4 == 0 && p[kK] % 4 == 0;
}

bool aligned(const Problem& p, const Addresses& at) {
  const auto multiple_of_16 = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  };
  return aligned_rows(p) && multiple_of_16(at.inputs[0]) && multiple_of_16(at.inputs[1]) &&
         multiple_of_16(at.outputs[0]);
}

/// The reference: a thread for each element of C, in float64.
template <class T>
__global__ void reference_kernel(int m, int n, int k, const T* a, const T* b, double* c) {
  const std::int64_t element = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t row = element / n, column = element % n;
  if (row >= m) return;
  double sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += static_cast<double>(widen(a[row * k + i])) *
           static_cast<double>(widen(b[std::int64_t{i} * n + column]));
  }
  c[element] = sum;
}

}  // namespace

const Compiled* find(const Rung& rung, const Problem& p) {
  const auto found = std::find_if(
      rung.compiled.begin(), rung.compiled.end(),
      [&](const Compiled& compiled) { return same_tile(rung, compiled.configuration, p); });
  return found == rung.compiled.end() ? nullptr : &*found;
}

std::string unsupported(const Rung& rung, const Problem& p) {
  if (p.dtype != DType::fp32) {
    return std::string(rung.name) + " runs in fp32 only, not " + std::string(name(p.dtype));
  }
  if (find(rung, p) == nullptr) {
    std::string known, order;
    for (std::size_t i = kTileM; i < rung.parameters; ++i) {
      if (!order.empty()) order += " x ";
      order += kNames[i];
    }
    for (const Compiled& compiled : rung.compiled) {
      if (!known.empty()) known += ", ";
      known += tile_text(rung, compiled.configuration);
    }
    return std::string(rung.name) + " is compiled for " + order + " = " + known + "; asked for " +
           tile_text(rung, p);
  }
  constexpr std::int64_t kLargest = std::numeric_limits<int>::max() - 1024;  // room for a tile
  if (std::min({p[kM], p[kN], p[kK]}) < 1 || std::max({p[kM], p[kN], p[kK]}) > kLargest) {
    return "m, n and k must be from 1 to " + std::to_string(kLargest);
  }
  const std::int64_t rows = ceil_div(p[kM], p[kTileM]), columns = ceil_div(p[kN], p[kTileN]);
  if (rung.raster == Raster::linear
          ? rows * columns > std::numeric_limits<int>::max()
          : (rung.raster == Raster::rows_on_x ? columns : rows) > kMostBlocksYZ) {
    return "too many tiles for one grid: choose larger tiles";
  }
  return {};
}

Launch launch_of(const Rung& rung, const Problem& p) {
  const Compiled& compiled = *find(rung, p);
  const Kernel kernel = aligned_rows(p) ? compiled.kernel : compiled.unaligned;
  return {reinterpret_cast<const void*>(kernel), grid(rung, p), compiled.block,
          static_cast<std::size_t>(compiled.shared_bytes)};
}

void run(const Rung& rung, const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Compiled& compiled = *find(rung, p);
  const Kernel kernel = aligned(p, at) ? compiled.kernel : compiled.unaligned;
  if (compiled.shared_bytes > 48 * 1024) {  // above the default limit
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               compiled.shared_bytes));
  }
  kernel<<<grid(rung, p), compiled.block, static_cast<std::size_t>(compiled.shared_bytes),
           stream>>>(static_cast<int>(p[kM]), static_cast<int>(p[kN]), static_cast<int>(p[kK]),
                     static_cast<const float*>(at.inputs[0]),
                     static_cast<const float*>(at.inputs[1]), static_cast<float*>(at.outputs[0]));
  check(cudaGetLastError());
}

Tensors tensors(const Problem& p) {
  const auto elements = [&](auto rows, auto columns) {
    return static_cast<std::size_t>(p[rows]) * static_cast<std::size_t>(p[columns]);
  };
  return {{{p.dtype, elements(kM, kK)}, {p.dtype, elements(kK, kN)}},
          {{p.dtype, elements(kM, kN)}}};
}

void reference(const Problem& p, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(p[kM] * p[kN], 256));
  visit_element(p.dtype, [&]<class T>(std::type_identity<T>) {
    reference_kernel<<<blocks, 256, 0, stream>>>(
        static_cast<int>(p[kM]), static_cast<int>(p[kN]), static_cast<int>(p[kK]),
        static_cast<const T*>(inputs[0]), static_cast<const T*>(inputs[1]), outputs[0]);
  });
  check(cudaGetLastError());
}

// Error of a running sum of k products, relative to the largest of m·n sums. Tensor cores (all
// types but fp32) truncate each addition towards 0, by up to 2·u per step of 8 products or more:
// 2·u·Σ√(8·i) over k/8 steps is u·k/6 of √k. Inputs truncated to tf32 lose up to 2·u(tf32) each: u
// each on average, 2·u in a product, with a deviation of √(2/3)·u. A narrow result is rounded once,
// and so are the partial sums where the library splits k.
double tolerance(const Problem& p, std::size_t /*output*/) {
  const auto k = static_cast<double>(p[kK]);
  const double largest = least_largest(static_cast<double>(p[kM]) * static_cast<double>(p[kN]));
  const double sum = sum_error(k, k) + 2 * kFp32Roundoff;
  if (p.dtype == DType::fp32) return sum / largest;
  const double u = unit_roundoff(p.dtype), truncated = kFp32Roundoff * k / 6;
  const double of_inputs = p.dtype == DType::tf32 ? 6 * std::sqrt(2.0 / 3) * u : 0;
  return (sum + truncated + of_inputs) / largest + 2 * u;
}

KernelEntry naive(), coalesced(), tiled(), coarsened_1d(), coarsened_2d(), vectorized();

/// The rungs, slowest first.
Entries entries() {
  static const std::array table = {naive(),        coalesced(),    tiled(),
                                   coarsened_1d(), coarsened_2d(), vectorized(),
                                   mma_sync(),     wgmma(),        skinny()};
  return table;
}
Entries tensor_entries() {
  return entries().last(3);
}

}  // namespace roofcast::cuda::gemm
