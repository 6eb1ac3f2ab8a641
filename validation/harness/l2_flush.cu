#include "validation/harness/l2_flush.hpp"

namespace roofcast::harness {
namespace {

constexpr unsigned kThreads = 512;
constexpr unsigned kBlocksPerSm = 4;
// Compared with the sum so that the compiler cannot drop the reads. The sum of the zeroed buffer
// never equals it, that of another buffer rarely; nothing reads the sink.
constexpr unsigned kNever = 0x5eed;

__global__ void read_all(const uint4* buffer, std::size_t vectors, unsigned* sink) {
  unsigned sum = 0;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < vectors; i += step) {
    const uint4 v = __ldcg(buffer + i);
    sum += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == kNever) *sink = sum;
}

}  // namespace

L2Flush::L2Flush(std::size_t l2_bytes, int sm_count)
    : vectors_(3 * l2_bytes / sizeof(uint4)),
      blocks_(static_cast<unsigned>(sm_count) * kBlocksPerSm),
      buffer_(device_alloc<uint4>(vectors_)),
      sink_(device_alloc<unsigned>(1)) {
  check(cudaMemset(buffer_.get(), 0, vectors_ * sizeof(uint4)));
}

void L2Flush::enqueue(cudaStream_t stream) const {
  bring_in(buffer_.get(), vectors_ * sizeof(uint4), stream);
}

void L2Flush::bring_in(const void* buffer, std::size_t bytes, cudaStream_t stream) const {
  read_all<<<blocks_, kThreads, 0, stream>>>(
      static_cast<const uint4*>(buffer), (bytes + sizeof(uint4) - 1) / sizeof(uint4), sink_.get());
  check(cudaGetLastError());
}

}  // namespace roofcast::harness
