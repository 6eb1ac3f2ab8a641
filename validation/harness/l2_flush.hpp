#pragma once
// Fills L2 with clean lines of a foreign buffer by reading it. A memset would leave dirty lines,
// whose write-back the next kernel would pay for.
#include <cuda_runtime.h>

#include <cstddef>

#include "validation/harness/handles.hpp"

namespace roofcast::harness {

class L2Flush {
 public:
  /// The buffer is 3 × L2: enough for any replacement policy to let go of what was there.
  L2Flush(std::size_t l2_bytes, int sm_count);

  void enqueue(cudaStream_t stream) const;

  /// Brings a buffer into L2 by reading it, clean. The address is a multiple of 16 bytes, and the
  /// last 16 bytes are read whole.
  void bring_in(const void* buffer, std::size_t bytes, cudaStream_t stream) const;

 private:
  std::size_t vectors_;
  unsigned blocks_;
  DevicePointer<uint4> buffer_;
  DevicePointer<unsigned> sink_;
};

}  // namespace roofcast::harness
