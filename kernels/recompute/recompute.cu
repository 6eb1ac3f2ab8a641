// Activation checkpointing in miniature: y = σ(σ(…σ(x))), a chain of L logistic functions, forward
// and backward, in two launches as a framework runs them.
//
// With y_i the output of link i (y_0 = x, y_L = y) and dy the gradient that arrives,
//   dy_i/dy_(i-1) = y_i·(1 - y_i),   so   dx = dy · Π y_i·(1 - y_i):
// the backward pass needs every y_i, stored or recomputed:
//
//   stored      the forward pass writes y_1 … y_(L-1) and y; the backward pass reads
//               y_1 … y_(L-1) and dy, computes y_L from y_(L-1), and writes dx
//   recomputed  the forward pass writes y alone; the backward pass reads x and dy, computes the
//               whole chain again in registers, and writes dx
//
// Accesses an element:   forward          backward              together       L = 3
//   stored             1 read, L writes   L reads, 1 write       2·L + 2         8
//   recomputed         1 read, 1 write    2 reads, 1 write             5         5
// (L = 1 has nothing to store: both read x and dy in the backward pass.)
//
// Each σ is two special functions, an exp2 and a reciprocal: storing takes 2·(L + 1) of them an
// element, recomputing 4·L. With b bytes an element, B the DRAM bandwidth and R the rate of special
// functions, storing takes (2·L + 2)·b / B, no less than its special functions where b ≥ B / R;
// recomputing takes max(5·b / B, 4·L / R). The special-function unit is the roof of recomputing
// from L = 5/4 · b·R / B on, and storing is faster for long chains if
//   4 / R > 2·b / B   ⇔   b < 2·B / R.
// On an H200 R = 132·16·1.98 GHz = 4.2 T/s and B = 4.2 TB/s: the roof is reached at L = 5 (fp32)
// and L = 3 (16-bit types). In fp32 recomputing is faster for every L > 1, by a factor of two in
// the limit. In 16-bit types it gains no more than a constant, as 4 / R = 2·b / B there.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/exponential.cuh"
#include "kernels/common/vector.cuh"
#include "kernels/families.hpp"
#include "model/kernels/recompute/recompute.hpp"

namespace roofcast::cuda::recompute {
namespace {

using roofcast::recompute::kChain;
using roofcast::recompute::kElements;
using roofcast::recompute::kLoads;
using roofcast::recompute::kMaxChain;
using roofcast::recompute::kThreads;
using roofcast::recompute::kVectorBytes;

constexpr int kMostThreads = 1024;

// 1 / (1 + 2^(-x·log2 e)) by two instructions of the special-function unit, with relative errors of
// 2^-22 and 1 ulp. Beyond their range they return 0 and infinity, so σ returns its limits.
__device__ float sigmoid(float x) {
  return reciprocal_of(1.0f + exp2_of(-kLog2E * x));
}
__device__ double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

/// The derivative of σ where its value is y.
template <class C>
__device__ C slope(C y) {
  return y - y * y;
}

template <class T>
struct Arrays {
  const T* x;
  const T* dy;
  T* y;
  T* dx;
  T* kept[static_cast<std::size_t>(kMaxChain) - 1];  ///< y_1 …, the first `stored` of them
  std::int64_t n;
  int chain;   ///< links, L
  int stored;  ///< links whose results are stored: chain - 1, or 0
};

/// One thread's share: `kLoads` vectors of kWidth consecutive elements, `step` vectors apart.
template <class T, int kWidth, int kLoads>
struct Share {
  static constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
  using Vec = Vector<T, kBytes>;

  std::int64_t first;
  std::int64_t step;
  std::int64_t vectors;  ///< of the array

  __device__ bool inside(int i) const { return first + i * step < vectors; }
  __device__ void read(const T* array, Vec (&into)[kLoads]) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (inside(i)) into[i] = load(reinterpret_cast<const Vec*>(array) + first + i * step);
    }
  }
  __device__ void write(T* array, const float (&values)[kLoads][kWidth]) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      Vec out;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) out.element[e] = narrow<T>(values[i][e]);
      if (inside(i)) store(reinterpret_cast<Vec*>(array) + first + i * step, out);
    }
  }
};

template <class Function, int kLoads, int kWidth>
__device__ void for_each(float (&values)[kLoads][kWidth], const Function& function) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) values[i][e] = function(i, e, values[i][e]);
  }
}

struct Forward {
  template <class T, int kWidth, int kLoads>
  __device__ static void run(const Arrays<T>& arrays, const Share<T, kWidth, kLoads>& share) {
    Vector<T, kWidth* static_cast<int>(sizeof(T))> raw[kLoads];
    share.read(arrays.x, raw);
    float value[kLoads][kWidth];
    for_each(value, [&](int i, int e, float) { return widen(raw[i].element[e]); });
#pragma unroll 1
    for (int link = 0; link < arrays.chain; ++link) {
      for_each(value, [](int, int, float v) { return sigmoid(v); });
      if (link < arrays.stored) share.write(arrays.kept[link], value);
    }
    share.write(arrays.y, value);
  }
};

/// Multiplies dy by the slopes of the stored links, whose values are loaded one link ahead, then by
/// the slopes of the remaining links, which are computed again from the last stored value or x.
struct Backward {
  template <class T, int kWidth, int kLoads>
  __device__ static void run(const Arrays<T>& arrays, const Share<T, kWidth, kLoads>& share) {
    using Vec = Vector<T, kWidth* static_cast<int>(sizeof(T))>;
    Vec raw[kLoads], next[kLoads];
    share.read(arrays.dy, raw);
    share.read(arrays.stored == 0 ? arrays.x : arrays.kept[0], next);
    float gradient[kLoads][kWidth], value[kLoads][kWidth];
    for_each(gradient, [&](int i, int e, float) { return widen(raw[i].element[e]); });
#pragma unroll 1
    for (int link = 1; link < arrays.stored; ++link) {
      for_each(value, [&](int i, int e, float) { return widen(next[i].element[e]); });
      share.read(arrays.kept[link], next);
      for_each(gradient, [&](int i, int e, float g) { return g * slope(value[i][e]); });
    }
    for_each(value, [&](int i, int e, float) { return widen(next[i].element[e]); });
    if (arrays.stored > 0) {
      for_each(gradient, [&](int i, int e, float g) { return g * slope(value[i][e]); });
    }
#pragma unroll 1
    for (int link = arrays.stored; link < arrays.chain; ++link) {
      for_each(value, [](int, int, float v) { return sigmoid(v); });
      for_each(gradient, [&](int i, int e, float g) { return g * slope(value[i][e]); });
    }
    share.write(arrays.dx, gradient);
  }
};

/// Each thread takes kLoads vectors; the last elements that fill no vector go one by one. All
/// addresses are multiples of the vector's size.
template <class Pass, class T, int kBytes, int kLoads>
__global__ void __launch_bounds__(kMostThreads, 1)
    pass_vectors(const __grid_constant__ Arrays<T> arrays) {
  constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));
  const std::int64_t vectors = arrays.n / kWidth;
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * kLoads + threadIdx.x;
  const Share<T, kWidth, kLoads> share = {first, blockDim.x, vectors};
  if (share.inside(0)) Pass::run(arrays, share);
  if constexpr (kWidth > 1) {
    const std::int64_t at = vectors * kWidth + threadIdx.x;
    if (blockIdx.x == gridDim.x - 1 && at < arrays.n) {
      Pass::run(arrays, Share<T, 1, 1>{at, 1, arrays.n});
    }
  }
}

/// The same grid over the same chunks, with one element an access, for any addresses.
template <class Pass, class T>
__global__ void __launch_bounds__(kMostThreads, 1)
    pass_scalar(const __grid_constant__ Arrays<T> arrays, int elements_per_thread) {
  std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x * elements_per_thread + threadIdx.x;
  for (int i = 0; i < elements_per_thread && at < arrays.n; ++i, at += blockDim.x) {
    Pass::run(arrays, Share<T, 1, 1>{at, 1, arrays.n});
  }
}

/// One line of the table of compiled kernels: both passes of one configuration.
struct Compiled {
  int vector_bytes;
  int loads;
  const void* forward;
  const void* backward;
};

template <class T, int kBytes, int kLoads>
Compiled compiled() {
  return {kBytes, kLoads, reinterpret_cast<const void*>(&pass_vectors<Forward, T, kBytes, kLoads>),
          reinterpret_cast<const void*>(&pass_vectors<Backward, T, kBytes, kLoads>)};
}

template <class T>
std::span<const Compiled> all_compiled() {
  if constexpr (sizeof(T) == 4) {
    static const std::array table = {
        compiled<T, 4, 1>(),  compiled<T, 4, 4>(),  compiled<T, 8, 1>(), compiled<T, 8, 2>(),
        compiled<T, 16, 1>(), compiled<T, 16, 2>(), compiled<T, 16, 4>()};
    return table;
  } else {
    static const std::array table = {compiled<T, 4, 1>(),  compiled<T, 4, 4>(),
                                     compiled<T, 8, 1>(),  compiled<T, 8, 2>(),
                                     compiled<T, 16, 1>(), compiled<T, 16, 2>()};
    return table;
  }
}

bool runs_in(DType dtype) {
  return dtype == DType::fp32 || dtype == DType::fp16 || dtype == DType::bf16;
}

const Compiled* find(const Problem& p) {
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) -> const Compiled* {
    for (const Compiled& line : all_compiled<T>()) {
      if (line.vector_bytes == p[kVectorBytes] && line.loads == p[kLoads]) return &line;
    }
    return nullptr;
  });
}

std::string unsupported(const Problem& p) {
  if (!runs_in(p.dtype)) {
    return "recompute kernels run in fp32, fp16 and bf16, not " + std::string(name(p.dtype));
  }
  if (find(p) == nullptr) {
    return "compiled for vector_bytes 4, 8 or 16 with 1 load, 4 x 4, 8 x 2, 16 x 2 and, in fp32, "
           "16 x 4; asked for vector_bytes " +
           std::to_string(p[kVectorBytes]) + " and loads " + std::to_string(p[kLoads]);
  }
  if (p[kThreads] < 32 || p[kThreads] > kMostThreads || p[kThreads] % 32 != 0) {
    return "threads must be a multiple of 32 from 32 to " + std::to_string(kMostThreads) +
           "; asked for " + std::to_string(p[kThreads]);
  }
  if (p[kChain] < 1 || p[kChain] > kMaxChain) {
    return "chain must be from 1 to " + std::to_string(kMaxChain);
  }
  if (p[kElements] < 1 || p[kElements] >> 40 != 0) return "n must be from 1 to 2^40 - 1";
  return {};
}

unsigned blocks(const Problem& p) {
  const auto width =
      static_cast<std::int64_t>(static_cast<double>(p[kVectorBytes]) / size_bytes(p.dtype));
  const std::int64_t chunk = p[kThreads] * width * p[kLoads];
  return static_cast<unsigned>((p[kElements] + chunk - 1) / chunk);
}

dim3 threads(const Problem& p) {
  return dim3(static_cast<unsigned>(p[kThreads]));
}

template <bool kStored>
std::int64_t stored(const Problem& p) {
  return kStored ? p[kChain] - 1 : 0;
}

template <bool kStored>
void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    Arrays<T> arrays{.x = static_cast<const T*>(at.inputs[0]),
                     .dy = static_cast<const T*>(at.inputs[1]),
                     .y = static_cast<T*>(at.outputs[0]),
                     .dx = static_cast<T*>(at.outputs[1]),
                     .kept = {},
                     .n = p[kElements],
                     .chain = static_cast<int>(p[kChain]),
                     .stored = static_cast<int>(stored<kStored>(p))};
    for (std::size_t i = 0; i < at.scratch.size(); ++i) {
      arrays.kept[i] = static_cast<T*>(at.scratch[i]);
    }
    const auto aligned = [&](const void* address) {
      return reinterpret_cast<std::uintptr_t>(address) % static_cast<unsigned>(p[kVectorBytes]) ==
             0;
    };
    const bool all_aligned = std::all_of(at.inputs.begin(), at.inputs.end(), aligned) &&
                             std::all_of(at.outputs.begin(), at.outputs.end(), aligned) &&
                             std::all_of(at.scratch.begin(), at.scratch.end(), aligned);
    const Compiled& line = *find(p);
    int per_thread = static_cast<int>(p[kVectorBytes] * p[kLoads]) / static_cast<int>(sizeof(T));
    std::array<void*, 2> arguments = {&arrays, &per_thread};  // the second for pass_scalar only
    const auto launch = [&](const void* vectors, const void* scalar) {
      check(cudaLaunchKernel(all_aligned ? vectors : scalar, dim3(blocks(p)), threads(p),
                             arguments.data(), 0, stream));
    };
    launch(line.forward, reinterpret_cast<const void*>(&pass_scalar<Forward, T>));
    launch(line.backward, reinterpret_cast<const void*>(&pass_scalar<Backward, T>));
  });
}

template <class T>
__global__ void reference_kernel(const T* x, const T* dy, double* y, double* dx, std::int64_t n,
                                 int chain) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = static_cast<double>(widen(x[i]));
  double gradient = static_cast<double>(widen(dy[i]));
  for (int link = 0; link < chain; ++link) {
    value = sigmoid(value);
    gradient *= value * (1 - value);
  }
  y[i] = value;
  dx[i] = gradient;
}

void reference(const Problem& p, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t stream) {
  const std::int64_t n = p[kElements];
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    reference_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(
        static_cast<const T*>(inputs[0]), static_cast<const T*>(inputs[1]), outputs[0], outputs[1],
        n, static_cast<int>(p[kChain]));
  });
  check(cudaGetLastError());
}

constexpr Problem configuration(std::int64_t chain, std::int64_t threads, std::int64_t bytes,
                                std::int64_t loads) {
  return {.dtype = DType::fp32, .values = {0, chain, threads, bytes, loads}};
}

constexpr std::array kConfigurations = {configuration(3, 256, 16, 1),  configuration(1, 256, 16, 1),
                                        configuration(2, 256, 16, 2),  configuration(8, 128, 8, 2),
                                        configuration(4, 1024, 16, 4), configuration(3, 512, 4, 4)};

template <bool kStored>
KernelEntry entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = unsupported,
      .tensors =
          [](const Problem& p) {
            const Tensor array{p.dtype, static_cast<std::size_t>(p[kElements])};
            return Tensors{
                {array, array},
                {array, array},
                std::vector<Tensor>(static_cast<std::size_t>(stored<kStored>(p)), array)};
          },
      .launches =
          [](const Problem& p) {
            const Compiled& line = *find(p);
            return std::vector<Launch>{{line.forward, dim3(blocks(p)), threads(p), 0},
                                       {line.backward, dim3(blocks(p)), threads(p), 0}};
          },
      .run = run<kStored>,
      .reference = reference,
      // y: σ is no steeper than 1/4 and its result is above 1/2 after the first link, so that
      // rounding a stored link adds no more than rounding y itself. dx: rounding a link y_i by u
      // changes its slope y_i·(1 - y_i), which is at most 1/4, by at most u: 4·u of the largest
      // slope. From the second link on y_i is between 1/2 and 3/4, which halves that to 2·u. The
      // largest dx even of a few elements is above (1/4)·0.22^(L-1) / 2.
      .tolerance =
          [](const Problem& p, std::size_t output) {
            const auto links = static_cast<double>(p[kChain]);
            const double u = p.dtype == DType::fp32 ? 0 : unit_roundoff(p.dtype);
            const bool rounds = kStored && p[kChain] > 1;
            if (output == 0) {
              return 16 * kFp32Roundoff + narrowing(p.dtype) + (rounds ? u : 0);
            }
            const double largest = std::pow(0.22, links - 1) / 8;
            return 32 * links * kFp32Roundoff + narrowing(p.dtype, largest) +
                   (rounds ? 2 * (links + 1) * u : 0);
          },
  };
}

}  // namespace

Entries entries() {
  static const std::array table = {entry<true>("recompute.stored"),
                                   entry<false>("recompute.recomputed")};
  return table;
}

}  // namespace roofcast::cuda::recompute
