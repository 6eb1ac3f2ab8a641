#pragma once
// CUDA C++ for an expression: the kernel of kernels/common/map.cuh around its operations, without
// includes, so that NVRTC compiles it at run time without any header.
#include <string>

#include "model/expression/expression.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::cuda::expr {

/// What the code is generated for.
struct Configuration {
  DType dtype = DType::fp32;
  int threads = 256;
  int vector_bytes = 16;
  int loads = 1;

  friend bool operator==(const Configuration&, const Configuration&) = default;
};

/// The source of two kernels: `map_vectors` needs all addresses equally far past a multiple of
/// vector_bytes, `map_scalar` takes any. Both take (Inputs, Outputs, n): the addresses of the
/// expression's inputs and outputs, and the elements of each array.
std::string source(const expression::Expression& expression, const Configuration& configuration);

}  // namespace roofcast::cuda::expr
