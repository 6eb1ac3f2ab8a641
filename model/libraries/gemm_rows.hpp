#pragma once
// How the rows of a library's operands lie, and the kernels that this leaves it.
#include <cstdint>

#include "model/kernels/gemm/alignment.hpp"
#include "model/types/gpu.hpp"
#include "model/types/problem.hpp"

namespace roofcast::gemm {

/// Elements from row to row. Throws InputError where a leading dimension is less than a row.
RowLengths library_rows(const Problem& p);

/// Whether whole vectors of 16 B fit all rows, as the kernels for wgmma need.
bool library_aligned(const Problem& p);

/// Elements of a copy of the kernel that the library takes: there are kernels for 16, for 4 and for
/// 2 bytes, for all operands alike: rows of 8 bytes take the time of 4.
std::int64_t copied_vector(const Problem& p);

/// Whether the library takes its kernels for wgmma or tcgen05.
bool takes_wide(const Problem& p, const Gpu& gpu);

}  // namespace roofcast::gemm
