#pragma once
#include "model/types/prediction.hpp"

namespace roofcast {

/// C[m,n] = A[m,k] · B[k,n] through a fast memory of `on_chip_bytes`: at least 2mnk/√S words cross
/// (Hong & Kung 1981; constant after Smith et al., arXiv 1702.02017), never less than `compulsory`.
IoComplexity matrix_product_io(double m, double n, double k, double element_bytes,
                               double compulsory_bytes, double on_chip_bytes);

/// Matrices of a row of d words: those that a block keeps, its operands and sums, and those that
/// pass it. Forward keeps Q and O while K and V pass; backward keeps K, V, dK and dV while Q and dO
/// pass, and dQ, which is read and written.
struct AttentionRows {
  double kept;
  double passing;
};
inline constexpr AttentionRows kForwardRows{2, 2}, kBackwardRows{4, 4};

/// Attention of so many scores (one for each pair of query and key) without S in memory, a block as
/// large as a fast memory of M words holds: kept·passing·scores·d²/M words, which is Θ(N²d²/M) for
/// N queries and keys and d ≤ M ≤ Nd and optimal there up to a constant (Dao et al. 2022, arXiv
/// 2205.14135, theorem 2 and proposition 3), never less than `compulsory`.
IoComplexity attention_io(double scores, double head_dim, double element_bytes,
                          double compulsory_bytes, double on_chip_bytes,
                          const AttentionRows& rows = kForwardRows);

/// The same with S in memory, which is read and written `times` times in all as it becomes P, or
/// its gradient: Θ(Nd + N²), whatever the fast memory.
IoComplexity standard_attention_io(double scores, double times, double element_bytes,
                                   double compulsory_bytes, double on_chip_bytes);

/// Every byte once: nothing on the chip makes it less.
IoComplexity streaming_io(double compulsory_bytes, double on_chip_bytes);

}  // namespace roofcast
