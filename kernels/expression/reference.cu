#include "kernels/expression/reference.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

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
  std::uint8_t input;  // of an input
  std::uint8_t operands;
};

struct LaunchSequence {
  Instruction instructions[Expression::kMaxNodes];
  int count;
  const void* inputs[elementwise::kMaxInputs];
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
    default:
      return a;
  }
}

// Postfix order: operands wait on a stack.
template <class T>
__global__ void interpret(const __grid_constant__ LaunchSequence program, double* y,
                          std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double stack[kMaxDepth];
  int top = -1;
  for (int k = 0; k < program.count; ++k) {
    const Instruction& node = program.instructions[k];
    if (node.op == Op::number) {
      stack[++top] = node.value;
    } else if (node.op == Op::input) {
      stack[++top] =
          static_cast<double>(widen(static_cast<const T*>(program.inputs[node.input])[i]));
    } else {
      const double b = stack[top];
      if (node.operands == 2) --top;
      stack[top] = apply(node.op, stack[top], b);
    }
  }
  y[i] = stack[0];
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
               double* output, std::int64_t elements, cudaStream_t stream) {
  if (depth(expression) > kMaxDepth || inputs.size() > elementwise::kMaxInputs) {
    throw std::invalid_argument("too large an expression for the reference");
  }
  LaunchSequence program{};
  std::transform(
      expression.nodes.begin(), expression.nodes.end(), program.instructions,
      [](const Node& node) -> Instruction {
        return {node.value, node.op, node.a, static_cast<std::uint8_t>(operands(node.op))};
      });
  program.count = static_cast<int>(expression.nodes.size());
  std::copy(inputs.begin(), inputs.end(), program.inputs);
  visit_element(dtype, [&]<class T>(std::type_identity<T>) {
    interpret<T><<<blocks(elements), kThreads, 0, stream>>>(program, output, elements);
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
