#pragma once
// C[m,n] = A[m,k] · B[k,n], row-major, fp32 on the SIMT pipes: what the rungs of the ladder share.
// Each rung is one file with a kernel and a table of the tiles it is compiled for.
#include <array>
#include <span>

#include "kernels/common/kernel.hpp"
#include "model/kernels/gemm/gemm.hpp"

namespace roofcast::cuda::gemm {

using roofcast::gemm::kK;
using roofcast::gemm::kM;
using roofcast::gemm::kN;
using roofcast::gemm::kThreadM;
using roofcast::gemm::kThreadN;
using roofcast::gemm::kTileK;
using roofcast::gemm::kTileM;
using roofcast::gemm::kTileN;

/// The signature of every rung's kernel.
using Kernel = void (*)(int m, int n, int k, const float* a, const float* b, float* c);

/// One compiled configuration.
struct Compiled {
  Problem configuration;  ///< the tile parameters; the sizes are 0
  Kernel kernel;
  Kernel unaligned;  ///< for addresses or row lengths that are not multiples of 16 bytes
  dim3 block;
  int shared_bytes;  ///< dynamic
};

enum class Raster { rows_on_x, columns_on_x, linear };  ///< what grid.x counts: see grid()

struct Rung {
  std::string_view name;
  std::size_t parameters;  ///< number of leading values of Problem that are used
  Raster raster;
  std::span<const Compiled> compiled;
};

constexpr Problem configuration(std::int64_t tile_m, std::int64_t tile_n, std::int64_t tile_k = 0,
                                std::int64_t thread_m = 0, std::int64_t thread_n = 0) {
  return {.dtype = DType::fp32, .values = {0, 0, 0, tile_m, tile_n, tile_k, thread_m, thread_n}};
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

const Compiled* find(const Rung&, const Problem&);
std::string unsupported(const Rung&, const Problem&);
Launch launch_of(const Rung&, const Problem&);
void run(const Rung&, const Problem&, const Addresses&, cudaStream_t);

// Shared by every fp32 rung and the library.
Tensors tensors(const Problem&);
void reference(const Problem&, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t);
double tolerance(const Problem&, std::size_t output);

/// The tile configurations of a rung as KernelEntry wants them.
template <std::size_t kCount>
constexpr std::array<Problem, kCount> configurations(const std::array<Compiled, kCount>& table) {
  std::array<Problem, kCount> result{};
  for (std::size_t i = 0; i < kCount; ++i) result[i] = table[i].configuration;
  return result;
}

/// A rung as a catalog entry; kRung is a constant with static storage.
template <const Rung& kRung>
KernelEntry entry(std::span<const Problem> configurations) {
  return {
      .name = kRung.name,
      .configurations = configurations,
      .unsupported = [](const Problem& p) { return unsupported(kRung, p); },
      .tensors = tensors,
      .launches = [](const Problem& p) { return std::vector{launch_of(kRung, p)}; },
      .run = [](const Problem& p, const Addresses& at,
                cudaStream_t stream) { run(kRung, p, at, stream); },
      .reference = reference,
      .tolerance = tolerance,
  };
}

}  // namespace roofcast::cuda::gemm
