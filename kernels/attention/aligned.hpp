#pragma once
// Arrays that copies of 16 bytes can read. Rows of the family's matrices are multiples of 16 bytes;
// an array whose address is not is copied first to memory of the stream.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/common/error.hpp"

namespace roofcast::cuda::attention {

/// The array itself, or a copy of it that is given back in the stream's order.
class Aligned {
 public:
  Aligned(const void* data, std::size_t bytes, cudaStream_t stream) : data_(data), stream_(stream) {
    constexpr std::uintptr_t kAlignment = 16;
    if (reinterpret_cast<std::uintptr_t>(data) % kAlignment == 0) return;
    check(cudaMallocAsync(&copy_, bytes, stream));
    check(cudaMemcpyAsync(copy_, data, bytes, cudaMemcpyDeviceToDevice, stream));
    data_ = copy_;
  }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  ~Aligned() {
    if (copy_ != nullptr) (void)cudaFreeAsync(copy_, stream_);
  }

  const void* data() const { return data_; }

 private:
  const void* data_;
  void* copy_ = nullptr;
  cudaStream_t stream_;
};

}  // namespace roofcast::cuda::attention
