#pragma once
// What a library has for a product: its tiles, and of them and of parts of k those worth a
// forecast.
#include <vector>

#include "model/kernels/gemm/alignment.hpp"
#include "model/kernels/gemm/tiles.hpp"
#include "model/types/gpu.hpp"
#include "model/types/problem.hpp"

namespace roofcast::gemm {

inline constexpr double kStepBytes = 128;  ///< that a step takes of a row of A or B
/// Elements of k that kernels on the SIMT pipes take at a time.
inline constexpr double kSimtDepth = 8;

/// Elements from row to row. Throws InputError where a leading dimension is less than a row.
RowLengths library_rows(const Problem& p);

/// Whether whole vectors of 16 B fit all rows, as the kernels for wgmma need.
bool library_aligned(const Problem& p);

/// Elements of a copy of the kernel that the library takes: there are kernels for 16, for 4 and for
/// 2 bytes, for all operands alike: rows of 8 bytes take the time of 4 (cuBLAS 13, squares of 2049
/// to 5636 bf16, validation/sweeps/squares.json). A product with one column reads A as it lies,
/// whole lines at a time (gemvx, gemv2T).
std::int64_t copied_vector(const Problem& p);

/// Whether the library takes its kernels for wgmma or tcgen05.
bool takes_wide(const Problem& p, const Gpu& gpu);

/// The tile that the problem names. Throws InputError where the library has none such here.
LibraryTile library_tile(const Problem& p, const Gpu& gpu);

/// The problem with each tile and number of parts that the library is taken to weigh up.
std::vector<Problem> blockings(const Problem& p, const Gpu& gpu);

}  // namespace roofcast::gemm
