#pragma once
// Shared by the tests of the kernels: a GPU or a skip, and memory that shows writes outside it.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/common/data.hpp"
#include "kernels/common/error.hpp"
#include "kernels/common/kernel.hpp"

namespace roofcast::cuda {

/// A test that needs a GPU derives from this.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
      (void)cudaGetLastError();
      GTEST_SKIP() << "no GPU";
    }
  }
};

/// One tensor in device memory, `shift` elements past a multiple of 256 bytes, between two zones
/// that nobody may write.
class Guarded {
 public:
  Guarded(const Tensor& tensor, std::size_t shift)
      : bytes_(static_cast<std::size_t>(size_bytes(tensor.dtype) *
                                        static_cast<double>(tensor.elements))),
        begin_(kZone + static_cast<std::size_t>(size_bytes(tensor.dtype)) * shift),
        all_(begin_ + bytes_ + kZone) {
    void* p = nullptr;
    check(cudaMalloc(&p, all_));
    memory_.reset(static_cast<std::byte*>(p));
    check(cudaMemset(p, kMark, all_));
    poison(data(), tensor.dtype, tensor.elements, nullptr);
  }

  void* data() const { return memory_.get() + begin_; }

  std::vector<std::byte> content() const {
    std::vector<std::byte> host(bytes_);
    check(cudaMemcpy(host.data(), data(), bytes_, cudaMemcpyDeviceToHost));
    return host;
  }

  bool zones_untouched() const {
    const auto untouched = [&](std::size_t begin, std::size_t past) {
      std::vector<std::byte> host(past - begin);
      check(cudaMemcpy(host.data(), memory_.get() + begin, host.size(), cudaMemcpyDeviceToHost));
      return std::all_of(host.begin(), host.end(),
                         [](std::byte b) { return b == std::byte{kMark}; });
    };
    return untouched(0, begin_) && untouched(begin_ + bytes_, all_);
  }

 private:
  static constexpr std::size_t kZone = 512;
  static constexpr unsigned char kMark = 0xa5;
  struct Free {
    void operator()(std::byte* p) const { (void)cudaFree(p); }
  };
  std::size_t bytes_, begin_, all_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace roofcast::cuda
