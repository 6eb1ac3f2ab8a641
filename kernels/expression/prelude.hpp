#pragma once
// What every generated kernel begins with: its constants, the element type, and functions.
#include <string>

#include "kernels/expression/source.hpp"

namespace roofcast::cuda::expr {

/// The line `constexpr int NAME = VALUE;`.
std::string constant(std::string_view name, std::int64_t value);

/// The constants, the types of elements, vectors and arguments, and the functions that the text of
/// nodes calls (node_text.hpp).
std::string prelude(const Configuration& configuration, int inputs, int outputs, int threads,
                    int min_blocks);

/// Resident blocks to ask of __launch_bounds__, so that the compiler uses no more registers than
/// the model counts (generated_registers in model/kernels/common/map.hpp).
int min_blocks(int vectors_waiting, int threads, const Configuration& configuration);

}  // namespace roofcast::cuda::expr
