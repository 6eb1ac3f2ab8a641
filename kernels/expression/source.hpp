#pragma once
// CUDA C++ for an expression: kernels/common/map.cuh's skeleton around its operations, with no
// header to include, so that it compiles at run time wherever NVRTC is.
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

/// The kernels of the source: `map_vectors` wants all addresses equally far past a multiple of
/// vector_bytes, `map_scalar` takes any. Both take (Inputs, Outputs, n), which are arrays of as
/// many addresses as the expression has inputs and outputs.
std::string source(const expression::Expression& expression, const Configuration& configuration);

}  // namespace roofcast::cuda::expr
