#pragma once
// What a library has for a product: its tiles, and of them and of parts of k those worth a
// forecast.
#include <vector>

#include "model/kernels/gemm/tiles.hpp"
#include "model/types/gpu.hpp"
#include "model/types/problem.hpp"

namespace roofcast::gemm {

/// The tile that the problem names. Throws InputError where the library has none such here.
LibraryTile library_tile(const Problem& p, const Gpu& gpu);

/// The problem with each tile and number of parts that the library is taken to weigh up.
std::vector<Problem> blockings(const Problem& p, const Gpu& gpu);

}  // namespace roofcast::gemm
