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

IoComplexity streaming_io(double compulsory_bytes, double on_chip_bytes) {
  return {"Θ(n)", compulsory_bytes, on_chip_bytes};
}

}  // namespace roofcast
