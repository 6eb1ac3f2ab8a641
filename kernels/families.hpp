#pragma once
// The families of kernels. Each defines its table of variants beside them; a new variant is a line
// there. kernels/catalog.cpp puts the tables together.
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda {

using Entries = std::span<const KernelEntry>;

namespace stream {
Entries entries();
}
namespace elementwise {
Entries entries();
}
namespace expr {
Entries entries();
}
namespace recompute {
Entries entries();
}
namespace divergence {
Entries entries();
}
namespace access {
Entries entries();
}
namespace transpose {
Entries entries();
}
namespace softmax {
Entries entries();
}
namespace norm {
Entries entries();
}
namespace reduce {
Entries entries();
}
namespace gemm {
Entries entries();
/// The entries that use tensor cores.
Entries tensor_entries();
}  // namespace gemm
namespace attention {
Entries entries();
}

}  // namespace roofcast::cuda
