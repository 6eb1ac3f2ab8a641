#pragma once
#include "model/libraries/gemm_counts.hpp"
#include "model/types/plan.hpp"

namespace roofcast::gemm {

/// The launch of a library's product, what its blocks do, and who gives them to SMs.
void set_library_blocks(Plan& plan, const LibraryProduct& c, DType type, const Gpu& gpu);

}  // namespace roofcast::gemm
