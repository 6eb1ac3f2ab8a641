#include "model/counting/io_complexity.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast {

IoComplexity matrix_product_io(double m, double n, double k, double element_bytes,
                               double compulsory_bytes, double on_chip_bytes) {
  const double words = on_chip_bytes / element_bytes;
  const double bytes = words > 0 ? 2 * m * n * k / std::sqrt(words) * element_bytes : 0;
  return {"Θ(MNK/√S)", std::max(bytes, compulsory_bytes), on_chip_bytes};
}

IoComplexity attention_io(double scores, double head_dim, double element_bytes,
                          double compulsory_bytes, double on_chip_bytes,
                          const AttentionRows& rows) {
  // A block of M/(kept·d) rows; each row of the other sequence, passing·d words, goes past each
  // block.
  const double words = on_chip_bytes / element_bytes;
  const double bytes =
      words > 0 ? rows.kept * rows.passing * scores * head_dim * head_dim / words * element_bytes
                : 0;
  return {"Θ(N²d²/M)", std::max(bytes, compulsory_bytes), on_chip_bytes};
}

IoComplexity standard_attention_io(double scores, double times, double element_bytes,
                                   double compulsory_bytes, double on_chip_bytes) {
  return {"Θ(Nd + N²)", compulsory_bytes + times * scores * element_bytes, on_chip_bytes};
}

IoComplexity streaming_io(double compulsory_bytes, double on_chip_bytes) {
  return {"Θ(n)", compulsory_bytes, on_chip_bytes};
}

}  // namespace roofcast
