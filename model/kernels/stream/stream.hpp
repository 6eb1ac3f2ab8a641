#pragma once
#include "model/types/kernel_model.hpp"

namespace roofcast::stream {

/// The STREAM kernels (McCalpin 1995) and the empty kernel.
extern const KernelFamily kFamily;

}  // namespace roofcast::stream
