#pragma once
// What every generated kernel begins with: its constants, the element type, and functions.
#include <string>

#include "kernels/expression/source.hpp"

namespace roofcast::cuda::expr {

/// `constexpr int NAME = VALUE;`, a line.
std::string constant(std::string_view name, std::int64_t value);

/// Elements as they are stored, vectors of them, the arrays, and the functions of node_text.hpp.
std::string prelude(const Configuration& configuration, int inputs, int outputs, int threads,
                    int min_blocks);

/// So many blocks that the compiler keeps to the registers that the model counts with.
int min_blocks(int vectors_waiting, int threads, const Configuration& configuration);

}  // namespace roofcast::cuda::expr
