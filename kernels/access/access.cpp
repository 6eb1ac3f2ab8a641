#include <array>

#include "kernels/families.hpp"

namespace roofcast::cuda::access {

KernelEntry strided(), offset(), gather(), row_wise(), column_wise(), shared();

Entries entries() {
  static const std::array table = {strided(),  offset(),      gather(),
                                   row_wise(), column_wise(), shared()};
  return table;
}

}  // namespace roofcast::cuda::access
