#pragma once
// Matrices that copies of 16 bytes can read and write. Rows of the family's matrices are multiples of
// 16 bytes; for a matrix whose address is not, memory of the stream stands in.
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "kernels/common/error.hpp"

namespace roofcast::cuda::attention {

inline constexpr std::uintptr_t kAlignBytes = 16;

inline bool aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kAlignBytes == 0;
}

/// Inputs are copied to the memory that stands in, outputs from it by `finish`. It is given back in
/// the stream's order. Elements have two bytes.
class Copies {
 public:
  explicit Copies(cudaStream_t stream) : stream_(stream) {}
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() {
    for (const Copy& copy : all_) (void)cudaFreeAsync(copy.memory, stream_);
  }

  const void* in(const void* from, std::int64_t elements) {
    if (aligned(from)) return from;
    void* const memory = add(nullptr, elements);
    copy(from, memory, elements);
    return memory;
  }
  void* out(void* to, std::int64_t elements) { return aligned(to) ? to : add(to, elements); }
  /// After the launches that write the outputs.
  void finish() const {
    for (const Copy& one : all_) {
      if (one.to != nullptr) copy(one.memory, one.to, one.elements);
    }
  }

 private:
  struct Copy {
    void* memory;
    void* to;  ///< null: an input
    std::int64_t elements;
  };
  static std::size_t bytes(std::int64_t elements) { return static_cast<std::size_t>(elements) * 2; }
  void copy(const void* from, void* to, std::int64_t elements) const {
    check(cudaMemcpyAsync(to, from, bytes(elements), cudaMemcpyDeviceToDevice, stream_));
  }
  void* add(void* to, std::int64_t elements) {
    all_.reserve(all_.size() + 1);
    void* memory = nullptr;
    check(cudaMallocAsync(&memory, bytes(elements), stream_));
    all_.push_back({memory, to, elements});
    return memory;
  }

  cudaStream_t stream_;
  std::vector<Copy> all_;
};

}  // namespace roofcast::cuda::attention
