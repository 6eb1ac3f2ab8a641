#pragma once
#include <algorithm>
#include <cmath>

#include "model/types/prediction.hpp"

namespace roofcast {

/// C[m,n] = A[m,k] · B[k,n] through a fast memory of `on_chip_bytes`: at least 2mnk/√S words cross
/// (Hong & Kung 1981; constant after Smith et al., arXiv 1702.02017), never less than `compulsory`.
inline IoComplexity matrix_product_io(double m, double n, double k, double element_bytes,
                                      double compulsory_bytes, double on_chip_bytes) {
  const double words = on_chip_bytes / element_bytes;
  const double bytes = words > 0 ? 2 * m * n * k / std::sqrt(words) * element_bytes : 0;
  return {"Θ(MNK/√S)", std::max(bytes, compulsory_bytes), on_chip_bytes};
}

/// Resident × streamed matrices: forward keeps Q and O and streams K and V; backward keeps K, V, dK
/// and dV and streams Q, dO and, twice, dQ.
inline constexpr double kForwardRows = 2 * 2, kBackwardRows = 4 * 4;

/// Attention over `scores` query-key pairs that keeps S on chip. A block holds M/(k·d) rows of each
/// of k matrices in a fast memory of M words and streams the rows of p others past them:
/// k·p·scores·d²/M words, with k·p = `rows`, never less than `compulsory`. For N queries and keys
/// and d ≤ M ≤ Nd, Θ(N²d²/M) is optimal (Dao et al. 2022, arXiv 2205.14135, theorem 2, prop. 3).
inline IoComplexity attention_io(double scores, double head_dim, double element_bytes,
                                 double compulsory_bytes, double on_chip_bytes,
                                 double rows = kForwardRows) {
  const double words = on_chip_bytes / element_bytes;
  const double bytes = words > 0 ? rows * scores * head_dim * head_dim / words * element_bytes : 0;
  return {"Θ(N²d²/M)", std::max(bytes, compulsory_bytes), on_chip_bytes};
}

}  // namespace roofcast
