#pragma once
// Parts of k that one launch sums and joins: the block of a tile's last part adds what those of the
// other parts left.
#include <cstddef>
#include <cstdint>

#include <vector_types.h>

namespace roofcast::cuda::gemm {

/// Where blocks leave the sums of a part, and a flag for each that says whose they are.
struct Workspace {
  float4* sums;
  std::uint64_t* flags;
  std::uint64_t ticket;  ///< of this launch: no other has the same, and no flag begins with it
};

struct WorkspaceSize {
  std::int64_t fours = 0;  ///< of sums
  std::int64_t flags = 0;

  /// Of scratch memory, with room to align what lies there.
  std::size_t bytes() const;
  /// In that memory, for a launch that is about to begin.
  Workspace at(void* scratch) const;
};

}  // namespace roofcast::cuda::gemm
