#include "kernels/gemm/tensor.hpp"

#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"

namespace roofcast::cuda::gemm {

using roofcast::gemm::tensor::overlapping_rows;
using roofcast::gemm::tensor::Stored;
using roofcast::gemm::tensor::stored_a;
using roofcast::gemm::tensor::stored_b;
using roofcast::gemm::tensor::stored_c;

namespace {

template <class T>
__device__ double wide(T x) {
  if constexpr (std::is_same_v<T, __nv_fp8_e4m3>) {
    return static_cast<double>(static_cast<float>(x));
  } else {
    return static_cast<double>(widen(x));
  }
}

/// The reference: a thread for each element of C, in float64.
template <class T>
__global__ void reference_kernel(Shape s, bool transposed_a, bool transposed_b, const T* a,
                                 const T* b, double* c) {
  const std::int64_t element = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t row = element / s.n % s.m, column = element % s.n;
  const std::int64_t matrix = element / s.n / s.m;
  if (matrix >= s.matrices) return;
  a += matrix * s.matrix_a, b += matrix * s.matrix_b;
  double sum = 0;
  for (std::int64_t i = 0; i < s.k; ++i) {
    sum += wide(transposed_a ? a[i * s.row_a + row] : a[row * s.row_a + i]) *
           wide(transposed_b ? b[column * s.row_b + i] : b[i * s.row_b + column]);
  }
  c[matrix * s.matrix_c + row * s.row_c + column] = sum;
}

std::string tile_text(const Problem& p) {
  std::string text =
      std::to_string(p[kTileM]) + "x" + std::to_string(p[kTileN]) + "x" + std::to_string(p[kTileK]);
  if (p[kCluster] > 1) text += " cluster " + std::to_string(p[kCluster]);
  return text;
}

/// Reads an attribute of the current device. Returns whether there is a device.
bool attribute(cudaDeviceAttr which, int& value) {
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaDeviceGetAttribute(&value, which, device) == cudaSuccess) {
    return true;
  }
  (void)cudaGetLastError();
  return false;
}

}  // namespace

Shape shape_of(const Problem& p) {
  const Stored a = stored_a(p), b = stored_b(p), c = stored_c(p);
  return {static_cast<int>(p[kM]),
          static_cast<int>(p[kN]),
          static_cast<int>(p[kK]),
          a.row,
          b.row,
          c.row,
          static_cast<int>(p[kBatch]),
          a.elements(),
          b.elements(),
          c.elements()};
}

std::string unsupported_sizes(const Problem& p) {
  constexpr std::int64_t kLargest = std::numeric_limits<int>::max() - 1024;  // room for a tile
  if (std::min({p[kM], p[kN], p[kK]}) < 1 || std::max({p[kM], p[kN], p[kK]}) > kLargest) {
    return "m, n and k must be from 1 to " + std::to_string(kLargest);
  }
  for (const auto& [name, value] :
       {std::pair{"transposed_a", p[kTransposedA]}, std::pair{"transposed_b", p[kTransposedB]}}) {
    if (value < 0 || value > 1) return std::string(name) + " must be 0 or 1";
  }
  if (p[kBatch] < 1 || p[kBatch] > kMostBlocksYZ ||
      p[kBatch] * std::max({p[kM], p[kN], p[kK]}) > kLargest) {
    return "batch must be from 1 to " + std::to_string(kMostBlocksYZ) +
           ", and all its rows at most " + std::to_string(kLargest);
  }
  return overlapping_rows(p);
}

std::string fits_device(const Launch& launch) {
  int most = 0;
  if (!attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, most)) return {};
  if (launch.shared_bytes <= static_cast<std::size_t>(most)) return {};
  return "the tile takes " + std::to_string(launch.shared_bytes) +
         " bytes of shared memory and this device has " + std::to_string(most) +
         " a block: choose a smaller tile";
}

bool has_device() {
  int sms = 0;
  return attribute(cudaDevAttrMultiProcessorCount, sms);
}

bool device_is(int major, int minor) {
  int has_major = major, has_minor = minor;
  (void)attribute(cudaDevAttrComputeCapabilityMajor, has_major);
  (void)attribute(cudaDevAttrComputeCapabilityMinor, has_minor);
  return has_major == major && has_minor == minor;
}

std::string not_compiled(std::string_view kernel, const Problem& p,
                         std::span<const Problem> compiled) {
  std::string known;
  for (const Problem& one : compiled) {
    if (one.dtype != p.dtype || one[kTransposedB] != p[kTransposedB]) continue;
    known += (known.empty() ? "" : ", ") + tile_text(one);
  }
  if (known.empty()) {
    return std::string(kernel) + " is not compiled for " + std::string(name(p.dtype));
  }
  return std::string(kernel) + " is compiled for tile_m x tile_n x tile_k = " + known + " in " +
         std::string(name(p.dtype)) + "; asked for " + tile_text(p);
}

Tensors tensor_tensors(const Problem& p) {
  const auto tensor = [&](DType type, const Stored& matrix) -> Tensor {
    return {.dtype = type,
            .elements = static_cast<std::size_t>(p[kBatch] * matrix.elements()),
            .pitch = static_cast<std::size_t>(matrix.row),
            .unused = static_cast<std::size_t>(matrix.row - matrix.columns)};
  };
  return {{tensor(p.dtype, stored_a(p)), tensor(p.dtype, stored_b(p))},
          {tensor(result_type(p.dtype), stored_c(p))}};
}

void tensor_reference(const Problem& p, std::span<const void* const> inputs,
                      std::span<double* const> outputs, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(ceil_div(p[kBatch] * p[kM] * p[kN], 256));
  const auto launch = [&]<class T>(std::type_identity<T>) {
    reference_kernel<<<blocks, 256, 0, stream>>>(
        shape_of(p), p[kTransposedA] != 0, p[kTransposedB] != 0, static_cast<const T*>(inputs[0]),
        static_cast<const T*>(inputs[1]), outputs[0]);
  };
  if (p.dtype == DType::fp8) {
    launch(std::type_identity<__nv_fp8_e4m3>{});
  } else if (p.dtype == DType::int8) {
    launch(std::type_identity<std::int8_t>{});
  } else {
    visit_element(p.dtype, launch);
  }
  check(cudaGetLastError());
}

// As gemm::tolerance derives it. fp8: Hopper aligns the products of an instruction, 32 of k, to the
// largest and keeps about 14 bits of their sum (DeepSeek-V3 technical report, 2024, section 3.3.2),
// so a step truncates by up to 2^-13 of the partial sum, towards 0: u·Σ√(32·i) over k/32 steps is
// u·k/48 of √k. Inputs are given in the type, so only the result is rounded. int8: sums are exact
// and rounded once to fp32.
double tensor_tolerance(const Problem& p, std::size_t output) {
  if (p.dtype == DType::int8) return 2 * kFp32Roundoff;
  if (p.dtype != DType::fp8) return gemm::tolerance(p, output);
  Problem narrow = p;
  narrow.dtype = result_type(p.dtype);
  const auto k = static_cast<double>(p[kK]);
  const double largest = least_largest(static_cast<double>(p[kM]) * static_cast<double>(p[kN]));
  // At least one step truncates, however short k is.
  return gemm::tolerance(narrow, output) + 0x1p-13 * std::max(k / 48, 1.0) / largest;
}

}  // namespace roofcast::cuda::gemm
