#pragma once
// y[i] = op(a[i]), op(a[i], b[i]) or op(a[i], b[i], c[i]): the one skeleton of the stream and
// elementwise kernels.
//
// These kernels do a few operations per element, so their time is the time of their bytes:
// n·(inputs + 1)·sizeof(T), each read or written once. All they need is enough bytes in flight. By
// Little's law 4.8 TB/s times about 350 ns is 1.7 MB: 13 KB on each of 132 SMs, and more under
// load.
//   - Accesses are 16 bytes wide, which takes the fewest registers and instructions per byte.
//   - 2048 threads with one 16-byte access each have 32 KB in flight, which is enough: on an H200
//     `loads` = 1 moves 2 GiB at 4.26 TB/s, a little faster than cudaMemcpy (4.23). More accesses
//     per thread are 3 % slower, and so are blocks of 512 threads or more.
//   - Loads and stores are plain. Evict-first hints (ld.cs, st.cs) cost 2 to 8 % here, and so does
//     ld.global.nc.L1::no_allocate.
// A block handles one fixed chunk of threads·loads vectors and ends. There is no grid-stride loop:
// the hardware starts blocks as others end, and the model can count them:
//   blocks = ceil(n / (threads · elements_per_vector · loads)).
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/kernel.hpp"
#include "kernels/common/vector.cuh"
#include "model/kernels/common/map.hpp"

namespace roofcast::cuda::map {

using roofcast::map::kElements;
using roofcast::map::kLoads;
using roofcast::map::kReservedShared;
using roofcast::map::kThreads;
using roofcast::map::kVectorBytes;

constexpr int kMostThreads = 1024;

/// Most threads of a block. In blocks of 1024 a thread may use 65536 / 1024 = 64 registers. The
/// vectors loaded take kInputs · kLoads · kVectorBytes / 4 of them; if that is more than 32, blocks
/// are limited to 512 threads. (Without the 1 in __launch_bounds__ the compiler aims at 32
/// registers, and spills.)
constexpr int max_threads(int inputs, int vector_bytes, int loads) {
  return inputs * loads * vector_bytes / 4 > 32 ? kMostThreads / 2 : kMostThreads;
}

template <class Op, class T>
__device__ T apply(const T& a, const T& b, const T& c) {
  if constexpr (Op::kInputs == 1) {
    return narrow<T>(Op{}(widen(a)));
  } else if constexpr (Op::kInputs == 2) {
    return narrow<T>(Op{}(widen(a), widen(b)));
  } else {
    return narrow<T>(Op{}(widen(a), widen(b), widen(c)));
  }
}

/// `Op` of each element of the vectors.
template <class Op, class T, int kBytes>
__device__ Vector<T, kBytes> apply_each(const Vector<T, kBytes>& a, const Vector<T, kBytes>& b,
                                        const Vector<T, kBytes>& c) {
  Vector<T, kBytes> out;
#pragma unroll
  for (int e = 0; e < out.kWidth; ++e) {
    out.element[e] = apply<Op>(a.element[e], b.element[e], c.element[e]);
  }
  return out;
}

/// Elements before the first address that is a multiple of kBytes.
template <int kBytes, class T>
__device__ std::int64_t elements_to_boundary(const T* p) {
  const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(p) % kBytes);
  return (kBytes - past) % kBytes / static_cast<int>(sizeof(T));
}

/// Moves vectors, for addresses that are all equally far past a multiple of kVectorBytes. The first
/// threads of the first block take the elements before the first vector, those of the last block
/// the elements after the last one; both are fewer than a vector has.
template <class Op, class T, int kVectorBytes, int kLoads>
__global__ void __launch_bounds__(max_threads(Op::kInputs, kVectorBytes, kLoads), 1)
    map_vectors(const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ c,
                T* __restrict__ y, std::int64_t n) {
  using Vec = Vector<T, kVectorBytes>;
  const std::int64_t head = min(n, elements_to_boundary<kVectorBytes>(y));
  const std::int64_t vectors = (n - head) / Vec::kWidth;
  const std::int64_t chunk = std::int64_t{blockIdx.x} * blockDim.x * kLoads;
  const auto* a_vec = reinterpret_cast<const Vec*>(a + head) + chunk;
  const auto* b_vec = reinterpret_cast<const Vec*>(b + head) + chunk;
  const auto* c_vec = reinterpret_cast<const Vec*>(c + head) + chunk;
  auto* y_vec = reinterpret_cast<Vec*>(y + head) + chunk;

  // The last block's threads beyond the end repeat its last vector: without branches, the compiler
  // keeps all loads before the first store.
  const auto last = static_cast<int>(min(vectors - chunk, std::int64_t{blockDim.x} * kLoads)) - 1;
  const auto at = [&](int i) { return min(static_cast<int>(threadIdx.x + i * blockDim.x), last); };
  if (last >= 0) {
    Vec in_a[kLoads], in_b[Op::kInputs >= 2 ? kLoads : 1], in_c[Op::kInputs == 3 ? kLoads : 1];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      in_a[i] = load(a_vec + at(i));
      if constexpr (Op::kInputs >= 2) in_b[i] = load(b_vec + at(i));
      if constexpr (Op::kInputs == 3) in_c[i] = load(c_vec + at(i));
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      store(y_vec + at(i), apply_each<Op>(in_a[i], in_b[Op::kInputs >= 2 ? i : 0],
                                          in_c[Op::kInputs == 3 ? i : 0]));
    }
  }

  const std::int64_t tail = head + vectors * Vec::kWidth + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < head) {
    y[threadIdx.x] = apply<Op>(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x]);
  }
  if (blockIdx.x == gridDim.x - 1 && tail < n) {
    y[tail] = apply<Op>(a[tail], b[tail], c[tail]);
  }
}

/// Moves single elements, for other addresses, with the same grid over the same chunks.
template <class Op, class T>
__global__ void __launch_bounds__(kMostThreads)
    map_scalar(const T* __restrict__ a, const T* __restrict__ b, const T* __restrict__ c,
               T* __restrict__ y, std::int64_t n, int elements_per_thread) {
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x * elements_per_thread + threadIdx.x;
#pragma unroll 4
  for (int e = 0; e < elements_per_thread; ++e, i += blockDim.x) {
    if (i < n) y[i] = apply<Op>(a[i], b[i], c[i]);
  }
}

/// One line of the table of compiled kernels.
struct Compiled {
  int vector_bytes;
  int loads;
  int max_threads;
  const void* vectors;
  const void* scalar;
};

template <class Op, class T, int kVectorBytes, int kLoads>
Compiled compiled() {
  return {kVectorBytes, kLoads, max_threads(Op::kInputs, kVectorBytes, kLoads),
          reinterpret_cast<const void*>(&map_vectors<Op, T, kVectorBytes, kLoads>),
          reinterpret_cast<const void*>(&map_scalar<Op, T>)};
}

/// Every compiled kernel of one operation and type: {4, 8, 16} bytes × {1, 2, 4, 8} loads.
template <class Op, class T>
std::span<const Compiled> all_compiled() {
  if constexpr (sizeof(T) <= 4) {
    static const std::array table = {
        compiled<Op, T, 4, 1>(),  compiled<Op, T, 4, 2>(),  compiled<Op, T, 4, 4>(),
        compiled<Op, T, 4, 8>(),  compiled<Op, T, 8, 1>(),  compiled<Op, T, 8, 2>(),
        compiled<Op, T, 8, 4>(),  compiled<Op, T, 8, 8>(),  compiled<Op, T, 16, 1>(),
        compiled<Op, T, 16, 2>(), compiled<Op, T, 16, 4>(), compiled<Op, T, 16, 8>()};
    return table;
  } else {
    static const std::array table = {compiled<Op, T, 8, 1>(),  compiled<Op, T, 8, 2>(),
                                     compiled<Op, T, 8, 4>(),  compiled<Op, T, 8, 8>(),
                                     compiled<Op, T, 16, 1>(), compiled<Op, T, 16, 2>(),
                                     compiled<Op, T, 16, 4>(), compiled<Op, T, 16, 8>()};
    return table;
  }
}

/// The kernels that the sweeps measure, 16 bytes × {1, 2} loads: a fifth of the time to compile.
template <class Op, class T>
std::span<const Compiled> few_compiled() {
  static const std::array table = {compiled<Op, T, 16, 1>(), compiled<Op, T, 16, 2>()};
  return table;
}

inline unsigned blocks(const Problem& p) {
  const auto width =
      static_cast<std::int64_t>(static_cast<double>(p[kVectorBytes]) / size_bytes(p.dtype));
  const std::int64_t chunk = p[kThreads] * width * p[kLoads];
  return static_cast<unsigned>((p[kElements] + chunk - 1) / chunk);
}

/// The compiled kernel of a problem, or nullptr.
inline const Compiled* find(std::span<const Compiled> table, const Problem& p) {
  for (const Compiled& line : table) {
    if (line.vector_bytes == p[kVectorBytes] && line.loads == p[kLoads]) return &line;
  }
  return nullptr;
}

/// Why the problem cannot run, or nothing.
inline std::string unsupported(std::span<const Compiled> table, const Problem& p) {
  const Compiled* line = find(table, p);
  if (line == nullptr) {
    return std::string("compiled for ") +
           (table.size() > 2
                ? "vector_bytes 4, 8 or 16 (no smaller than an element) and loads 1, 2, 4 or 8"
                : "vector_bytes 16 and loads 1 or 2") +
           "; asked for vector_bytes " + std::to_string(p[kVectorBytes]) + " and loads " +
           std::to_string(p[kLoads]);
  }
  if (p[kThreads] < 32 || p[kThreads] > line->max_threads || p[kThreads] % 32 != 0) {
    return "threads must be a multiple of 32 from 32 to " + std::to_string(line->max_threads) +
           " for these loads; asked for " + std::to_string(p[kThreads]);
  }
  if (p[kElements] < 1 || p[kElements] >> 40 != 0) return "n must be from 1 to 2^40 - 1";
  return {};
}

/// Returns the bytes of dynamic shared memory that the problem reserves. Beyond 48 KiB it sets the
/// kernel's attribute that allows them.
inline std::size_t allow_reserved_shared(const void* function, const Problem& p) {
  constexpr std::int64_t kWithoutAsking = 48 * 1024;
  if (p[kReservedShared] > kWithoutAsking) {
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(p[kReservedShared])));
  }
  return static_cast<std::size_t>(p[kReservedShared]);
}

inline Launch launch_of(const Compiled& line, const Problem& p) {
  return {line.vectors, dim3(blocks(p)), dim3(static_cast<unsigned>(p[kThreads])),
          static_cast<std::size_t>(p[kReservedShared])};
}

/// Enqueues y = op(inputs). Where the operation has fewer than three inputs, the rest repeat one.
inline void run(const Compiled& line, const Problem& p, std::array<const void*, 3> inputs, void* y,
                cudaStream_t stream) {
  const auto past = [&](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % static_cast<unsigned>(line.vector_bytes);
  };
  const bool same_shift = std::all_of(inputs.begin(), inputs.end(),
                                      [&](const void* input) { return past(input) == past(y); });
  std::int64_t n = p[kElements];
  int per_thread =
      static_cast<int>(static_cast<double>(p[kVectorBytes] * p[kLoads]) / size_bytes(p.dtype));
  std::array<void*, 6> arguments = {&inputs[0], &inputs[1], &inputs[2],
                                    &y,         &n,         &per_thread};  // the last: map_scalar
  const void* function = same_shift ? line.vectors : line.scalar;
  const std::size_t reserved = allow_reserved_shared(function, p);
  check(cudaLaunchKernel(function, dim3(blocks(p)), dim3(static_cast<unsigned>(p[kThreads])),
                         arguments.data(), reserved, stream));
}

/// The float64 reference: the same function object in double.
template <class Op, class T>
__global__ void reference_kernel(const T* a, const T* b, const T* c, double* y, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto wide = [i](const T* from) { return static_cast<double>(widen(from[i])); };
  if constexpr (Op::kInputs == 1) {
    y[i] = Op{}(wide(a));
  } else if constexpr (Op::kInputs == 2) {
    y[i] = Op{}(wide(a), wide(b));
  } else {
    y[i] = Op{}(wide(a), wide(b), wide(c));
  }
}

template <class Op>
void reference(const Problem& p, std::span<const void* const> inputs, double* y,
               cudaStream_t stream) {
  const std::int64_t n = p[kElements];
  visit_element(p.dtype, [&]<class T>(std::type_identity<T>) {
    const auto at = [&](std::size_t i) {
      return static_cast<const T*>(inputs[std::min(i, inputs.size() - 1)]);
    };
    reference_kernel<Op>
        <<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(at(0), at(1), at(2), y, n);
  });
  check(cudaGetLastError());
}

}  // namespace roofcast::cuda::map
