#pragma once
// Which kernel of the catalogue an operator of a trace is, and with what problem.
#include <optional>

#include "model/predict.hpp"
#include "validation/profiles/trace.hpp"

namespace roofcast::validation {

/// What a call can be asked as. Memory-bound operators are kernels described by the bytes that they move.
struct Recognized {
  KernelRef kernel;
  Problem problem;
  bool is_product = false;  ///< gemm.library, whose layout and leading dimensions are the call's
};

/// Nothing where the operator is not known, its shapes were not recorded, or no kernel takes them.
std::optional<Recognized> recognize(const TracedCall& call);

}  // namespace roofcast::validation
