#pragma once
// Flushes L2 by reading a large buffer, which leaves clean lines. A memset would leave dirty lines,
// whose write-back would add to the next kernel's time.
#include <cuda_runtime.h>

#include <cstddef>

#include "validation/harness/handles.hpp"

namespace roofcast::harness {

class L2Flush {
 public:
  /// The buffer is 3 × L2: enough for any replacement policy to evict all earlier lines.
  L2Flush(std::size_t l2_bytes, int sm_count);

  void enqueue(cudaStream_t stream) const;

  /// Brings a buffer into L2 as clean lines by reading it. The address must be a multiple of 16
  /// bytes; the size is rounded up to 16 bytes.
  void bring_in(const void* buffer, std::size_t bytes, cudaStream_t stream) const;

 private:
  std::size_t vectors_;
  unsigned blocks_;
  DevicePointer<uint4> buffer_;
  DevicePointer<unsigned> sink_;
};

}  // namespace roofcast::harness
