#include "kernels/expression/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::cuda::expr {
namespace {

using expression::Expression;
using expression::Node;
using expression::Op;

constexpr unsigned kThreads = 256;

struct Instruction {
  double value;  // of a number
  Op op;
  std::uint8_t a, b;   // operands; for an input, a is its position
  std::uint8_t level;  // depth of nested reductions, this node included
};

struct Program {
  Instruction instructions[Expression::kMaxNodes];
  int count;
  int levels;
  const void* inputs[elementwise::kMaxInputs];
  double* outputs[elementwise::kMaxOutputs];
  std::uint8_t output_nodes[elementwise::kMaxOutputs];
  bool output_of_rows[elementwise::kMaxOutputs];
  int output_count;
};

__device__ double apply(Op op, double a, double b) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::power:
      return pow(a, b);
    case Op::exp:
      return exp(a);
    case Op::log:
      return log(a);
    case Op::sqrt:
      return sqrt(a);
    case Op::rsqrt:
      return 1 / sqrt(a);
    case Op::sin:
      return sin(a);
    case Op::cos:
      return cos(a);
    case Op::tanh:
      return tanh(a);
    case Op::sigmoid:
      return 1 / (1 + exp(-a));
    case Op::relu:
      return a < 0 ? 0 : a;
    case Op::abs:
      return fabs(a);
    case Op::min:
      return b < a || isnan(b) ? b : a;
    case Op::max:
      return b > a || isnan(b) ? b : a;
    case Op::erf:
      return erf(a);
    case Op::silu:
      return a / (1 + exp(-a));
    case Op::less:
      return a < b;
    case Op::less_equal:
      return a <= b;
    case Op::greater:
      return a > b;
    case Op::greater_equal:
      return a >= b;
    case Op::equal:
      return a == b;
    case Op::not_equal:
      return a != b;
    default:
      return a;
  }
}

__device__ bool reduces(Op op) {
  return op >= Op::row_sum && op <= Op::row_min;
}

__device__ double none(Op op) {
  if (op == Op::row_max) return -INFINITY;
  return op == Op::row_min ? INFINITY : 0;
}

__device__ double joined(Op op, double all, double one) {
  if (op == Op::row_max) return apply(Op::max, all, one);
  return op == Op::row_min ? apply(Op::min, all, one) : all + one;
}

// Sweeps over the row once for each level of reductions, and a last time to write the outputs.
template <class T>
__global__ void interpret(const __grid_constant__ Program program, std::int64_t rows,
                          std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double values[Expression::kMaxNodes];
  for (int level = 0; level <= program.levels; ++level) {
    for (int k = 0; k < program.count; ++k) {
      const Instruction& node = program.instructions[k];
      if (reduces(node.op) && node.level == level + 1) values[k] = none(node.op);
    }
    for (std::int64_t col = 0; col < cols; ++col) {
      const std::int64_t at = row * cols + col;
      for (int k = 0; k < program.count; ++k) {
        const Instruction& node = program.instructions[k];
        if (reduces(node.op)) {
          if (node.level == level + 1) values[k] = joined(node.op, values[k], values[node.a]);
        } else if (node.op == Op::number) {
          values[k] = node.value;
        } else if (node.op == Op::input) {
          values[k] = static_cast<double>(widen(static_cast<const T*>(program.inputs[node.a])[at]));
        } else if (node.level <= level) {
          values[k] = apply(node.op, values[node.a], values[node.b]);
        }
      }
      for (int k = 0; k < program.output_count && level == program.levels; ++k) {
        const bool of_rows = program.output_of_rows[k];
        if (!of_rows || col == 0) {
          program.outputs[k][of_rows ? row : at] = values[program.output_nodes[k]];
        }
      }
    }
    for (int k = 0; k < program.count; ++k) {
      const Instruction& node = program.instructions[k];
      if (node.op == Op::row_mean && node.level == level + 1) {
        values[k] /= static_cast<double>(cols);
      }
    }
  }
}

// SplitMix64 (Steele, Lea, Flood 2014).
__device__ std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class T>
__global__ void uniform(T* data, std::int64_t n, std::uint64_t seed) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint64_t bits = mix(mix(seed) ^ static_cast<std::uint64_t>(i)) >> 40;
  data[i] = narrow<T>(0.0625F + 0.875F * static_cast<float>(bits) * 0x1p-24F);
}

unsigned blocks(std::int64_t elements) {
  return static_cast<unsigned>((elements + kThreads - 1) / kThreads);
}

}  // namespace

void reference(const Expression& expression, DType dtype, std::span<const void* const> inputs,
               std::span<double* const> outputs, const Extent& extent, cudaStream_t stream) {
  if (inputs.size() > elementwise::kMaxInputs || outputs.size() > elementwise::kMaxOutputs) {
    throw std::invalid_argument("too large an expression for the reference");
  }
  Program program{};
  const std::vector<int> levels = expression::reduction_levels(expression);
  for (std::size_t i = 0; i < expression.nodes.size(); ++i) {
    const Node& node = expression.nodes[i];
    program.instructions[i] = {node.value, node.op, node.a, node.b,
                               static_cast<std::uint8_t>(levels[i])};
    program.levels = std::max(program.levels, levels[i]);
  }
  program.count = static_cast<int>(expression.nodes.size());
  std::copy(inputs.begin(), inputs.end(), program.inputs);
  std::copy(outputs.begin(), outputs.end(), program.outputs);
  const std::vector<bool> of_rows = expression::values_of_rows(expression);
  for (const std::uint8_t node : expression.outputs()) {
    program.output_nodes[program.output_count] = node;
    program.output_of_rows[program.output_count++] = of_rows[node];
  }
  const bool reduced = roofcast::expression::has_reduction(expression);
  const std::int64_t cols = reduced ? extent.cols : 1;
  const std::int64_t rows = extent.elements / cols;
  visit_element(dtype, [&]<class T>(std::type_identity<T>) {
    interpret<T><<<blocks(rows), kThreads, 0, stream>>>(program, rows, cols);
  });
  check(cudaGetLastError());
}

void fill_positive(void* data, DType dtype, std::int64_t elements, std::uint64_t seed,
                   cudaStream_t stream) {
  visit_element(dtype, [&]<class T>(std::type_identity<T>) {
    uniform<<<blocks(elements), kThreads, 0, stream>>>(static_cast<T*>(data), elements, seed);
  });
  check(cudaGetLastError());
}

}  // namespace roofcast::cuda::expr
