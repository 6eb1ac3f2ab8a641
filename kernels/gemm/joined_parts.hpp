#pragma once
// Split-K without a reduction kernel: the block of a tile's last part adds the sums that the blocks
// of the other parts wrote.
#include <cstddef>
#include <cstdint>

#include <vector_types.h>

namespace roofcast::cuda::gemm {

/// The sums of each part, and a flag for each that holds the ticket of the launch that wrote them.
struct Workspace {
  float4* sums;
  std::uint64_t* flags;
  std::uint64_t ticket;  ///< of this launch alone; no flag has that value before it
};

struct WorkspaceSize {
  std::int64_t fours = 0;  ///< float4 of sums
  std::int64_t flags = 0;

  /// Bytes of scratch memory, with room for alignment.
  std::size_t bytes() const;
  /// The workspace in `scratch`, with a new ticket for the launch that is about to begin.
  Workspace at(void* scratch) const;
};

}  // namespace roofcast::cuda::gemm
