#pragma once
// Registers of the compiled stream and elementwise kernels: what occupancy depends on.
#include <algorithm>
#include <array>
#include <cstdint>

#include "model/types/dtype.hpp"

namespace roofcast::map {

/// What a kernel computes for each element, as far as its registers go.
enum class Body : unsigned char {
  copy,
  scale,
  add,
  triad,
  square,
  tanh,
  gelu,
  relu,
  exp,
  sin,
  elu,
  sincos,
  fma,
  generated  ///< compiled at run time
};

struct Row {
  Body body;
  DType dtype;
  std::array<std::uint8_t, 12>
      registers;  ///< accesses of 4, 8, 16 bytes × 1, 2, 4, 8 loads; 0: none
};

/// kernels/common/map.cuh by ptxas -v of CUDA 13.0 for compute capability 9.0. A
/// product of two arrays takes what a sum takes, and a constant times or plus an array what scale
/// takes.
inline constexpr std::array kRegisters = {
    Row{Body::copy, DType::fp64, {0, 0, 0, 0, 15, 22, 32, 47, 25, 32, 48, 56}},
    Row{Body::copy, DType::fp32, {14, 20, 30, 40, 24, 31, 40, 48, 25, 32, 48, 56}},
    Row{Body::copy, DType::fp16, {24, 30, 32, 40, 24, 27, 32, 38, 25, 27, 32, 48}},
    Row{Body::copy, DType::bf16, {24, 30, 32, 40, 24, 27, 32, 38, 25, 27, 32, 48}},
    Row{Body::scale, DType::fp64, {0, 0, 0, 0, 16, 19, 28, 36, 25, 30, 42, 44}},
    Row{Body::scale, DType::fp32, {14, 17, 26, 32, 23, 27, 37, 40, 26, 30, 44, 51}},
    Row{Body::scale, DType::fp16, {23, 27, 37, 52, 22, 25, 31, 39, 23, 29, 34, 46}},
    Row{Body::scale, DType::bf16, {24, 29, 38, 53, 22, 29, 44, 53, 22, 35, 48, 55}},
    Row{Body::add, DType::fp64, {0, 0, 0, 0, 20, 28, 40, 64, 30, 48, 47, 82}},
    Row{Body::add, DType::fp32, {18, 26, 34, 56, 22, 36, 42, 62, 28, 40, 39, 72}},
    Row{Body::add, DType::fp16, {20, 32, 47, 61, 29, 34, 44, 56, 31, 38, 45, 64}},
    Row{Body::add, DType::bf16, {22, 37, 52, 54, 27, 44, 54, 55, 30, 55, 56, 80}},
    Row{Body::triad, DType::fp64, {0, 0, 0, 0, 19, 28, 40, 54, 30, 44, 50, 88}},
    Row{Body::triad, DType::fp32, {18, 23, 32, 50, 22, 39, 47, 56, 28, 45, 56, 64}},
    Row{Body::triad, DType::fp16, {20, 32, 47, 61, 29, 34, 44, 56, 31, 37, 45, 64}},
    Row{Body::triad, DType::bf16, {22, 37, 52, 54, 27, 44, 54, 55, 32, 55, 56, 80}},
    Row{Body::square, DType::fp32, {14, 20, 30, 38, 23, 31, 32, 38, 26, 30, 32, 48}},
    Row{Body::square, DType::fp16, {23, 27, 37, 52, 22, 25, 31, 39, 23, 29, 34, 46}},
    Row{Body::square, DType::bf16, {24, 29, 38, 53, 22, 29, 44, 53, 22, 35, 48, 55}},
    Row{Body::tanh, DType::fp32, {15, 13, 22, 28, 22, 27, 32, 51, 22, 29, 44, 48}},
    Row{Body::tanh, DType::fp16, {22, 26, 36, 51, 22, 26, 32, 46, 22, 31, 34, 46}},
    Row{Body::tanh, DType::bf16, {22, 29, 39, 52, 22, 29, 40, 48, 23, 32, 48, 55}},
    Row{Body::gelu, DType::fp32, {16, 17, 26, 29, 24, 29, 32, 40, 24, 30, 36, 56}},
    Row{Body::gelu, DType::fp16, {20, 28, 38, 52, 23, 30, 38, 48, 30, 37, 40, 52}},
    Row{Body::gelu, DType::bf16, {20, 30, 38, 52, 23, 31, 40, 48, 28, 39, 52, 55}},
    Row{Body::relu, DType::fp32, {14, 20, 20, 34, 23, 31, 32, 38, 22, 29, 32, 48}},
    Row{Body::relu, DType::fp16, {22, 28, 36, 50, 22, 25, 32, 40, 22, 29, 32, 52}},
    Row{Body::relu, DType::bf16, {22, 28, 38, 53, 22, 30, 44, 53, 22, 34, 48, 55}},
    Row{Body::exp, DType::fp32, {0, 0, 0, 0, 0, 0, 0, 0, 24, 30, 0, 0}},
    Row{Body::exp, DType::fp16, {0, 0, 0, 0, 0, 0, 0, 0, 23, 29, 0, 0}},
    Row{Body::exp, DType::bf16, {0, 0, 0, 0, 0, 0, 0, 0, 23, 32, 0, 0}},
    Row{Body::sin, DType::fp32, {0, 0, 0, 0, 0, 0, 0, 0, 32, 38, 0, 0}},
    Row{Body::sin, DType::fp16, {0, 0, 0, 0, 0, 0, 0, 0, 24, 30, 0, 0}},
    Row{Body::sin, DType::bf16, {0, 0, 0, 0, 0, 0, 0, 0, 24, 32, 0, 0}},
    Row{Body::elu, DType::fp32, {0, 0, 0, 0, 0, 0, 0, 0, 26, 30, 0, 0}},
    Row{Body::elu, DType::fp16, {0, 0, 0, 0, 0, 0, 0, 0, 32, 34, 0, 0}},
    Row{Body::elu, DType::bf16, {0, 0, 0, 0, 0, 0, 0, 0, 29, 38, 0, 0}},
    Row{Body::sincos, DType::fp32, {0, 0, 0, 0, 0, 0, 0, 0, 32, 38, 0, 0}},
    Row{Body::sincos, DType::fp16, {0, 0, 0, 0, 0, 0, 0, 0, 31, 38, 0, 0}},
    Row{Body::sincos, DType::bf16, {0, 0, 0, 0, 0, 0, 0, 0, 31, 39, 0, 0}},
    Row{Body::fma, DType::fp32, {0, 0, 0, 0, 0, 0, 0, 0, 30, 46, 0, 0}},
    Row{Body::fma, DType::fp16, {0, 0, 0, 0, 0, 0, 0, 0, 36, 48, 0, 0}},
    Row{Body::fma, DType::bf16, {0, 0, 0, 0, 0, 0, 0, 0, 38, 48, 0, 0}},
};

/// What a kernel generated at run time may take at most, and takes about: the vectors that wait for
/// each other, and some 16 registers for addresses and arithmetic. The bound keeps 32, with which
/// every SM so far is full, where that is enough. From expressions of 1 to 8 inputs by ptxas -v of
/// CUDA 13.0 for compute capability 9.0.
constexpr std::int64_t generated_registers(DType dtype, std::int64_t inputs,
                                           std::int64_t vector_bytes, std::int64_t loads) {
  const std::int64_t waiting = inputs * loads * vector_bytes / 4;
  if (waiting <= (dtype == DType::fp32 ? 16 : 8)) return 32;
  if (waiting >= 32) return waiting + 24;
  return std::max<std::int64_t>(40, (waiting + 23) / 8 * 8);
}

/// Of the compiled kernel; `vector_bytes` and `loads` are powers of two in range.
constexpr std::int64_t registers_of(Body body, DType dtype, std::int64_t vector_bytes,
                                    std::int64_t loads) {
  std::size_t position = 0;
  for (std::int64_t bytes = 4; bytes < vector_bytes; bytes *= 2) position += 4;
  for (std::int64_t load = 1; load < loads; load *= 2) ++position;
  for (const Row& row : kRegisters) {
    if (row.body == body && row.dtype == dtype) return row.registers[position];
  }
  return 0;
}

}  // namespace roofcast::map
