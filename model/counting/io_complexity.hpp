#pragma once
#include "model/types/prediction.hpp"

namespace roofcast {

/// C[m,n] = A[m,k] · B[k,n] through a fast memory of `on_chip_bytes`: at least 2mnk/√S words cross
/// (Hong & Kung 1981; constant after Smith et al., arXiv 1702.02017), never less than `compulsory`.
IoComplexity matrix_product_io(double m, double n, double k, double element_bytes,
                               double compulsory_bytes, double on_chip_bytes);

/// softmax(Q·Kᵀ)·V of so many scores (one for each pair of query and key), blocks of Q and their sums
/// kept in the fast memory of M words while K and V pass: 4·scores·d²/M words, which is Θ(N²d²/M)
/// for N queries and keys and d ≤ M ≤ Nd and optimal there up to a constant (Dao et al. 2022, arXiv
/// 2205.14135, theorem 2 and proposition 3), never less than `compulsory`.
IoComplexity attention_io(double scores, double head_dim, double element_bytes,
                          double compulsory_bytes, double on_chip_bytes);

/// Every byte once: nothing on the chip makes it less.
IoComplexity streaming_io(double compulsory_bytes, double on_chip_bytes);

}  // namespace roofcast
