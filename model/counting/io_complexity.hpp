#pragma once
#include "model/types/prediction.hpp"

namespace roofcast {

/// C[m,n] = A[m,k] · B[k,n] through a fast memory of `on_chip_bytes`: at least 2mnk/√S words cross
/// (Hong & Kung 1981; constant after Smith et al., arXiv 1702.02017), never less than `compulsory`.
IoComplexity matrix_product_io(double m, double n, double k, double element_bytes,
                               double compulsory_bytes, double on_chip_bytes);

/// Every byte once: nothing on the chip makes it less.
IoComplexity streaming_io(double compulsory_bytes, double on_chip_bytes);

}  // namespace roofcast
