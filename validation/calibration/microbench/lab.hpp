#pragma once
// What the microbenchmarks share: the device, a large buffer, and timing.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "validation/harness/clock_probe.hpp"
#include "validation/harness/handles.hpp"
#include "validation/harness/l2_flush.hpp"

namespace roofcast::microbench {

using harness::check;

struct TimedLaunch {
  double seconds = 0;
  double clock_hz = 0;  ///< mean SM clock during the counted launches
};

class Lab {
 public:
  /// Takes up to 4 GiB of device memory.
  Lab();

  int sm_count() const { return sm_count_; }
  unsigned sms() const { return static_cast<unsigned>(sm_count_); }
  std::size_t l2_bytes() const { return l2_bytes_; }
  cudaStream_t stream() const { return stream_.get(); }

  /// Size of the buffer that all microbenchmarks reuse: a power of two, at most 4 GiB.
  std::size_t buffer_bytes() const { return buffer_bytes_; }
  template <class T>
  T* buffer() const {
    return reinterpret_cast<T*>(buffer_.get());
  }
  /// Sets every byte of the buffer to 1: a 32-bit word is then kFill.
  void fill_buffer();
  static constexpr std::uint32_t kFill = 0x01010101;

  /// Cycle counts that kernels store, one per block of a launch.
  static constexpr std::size_t kMostBlocks = 4096;
  std::uint64_t* cycles() const { return cycles_.get(); }
  /// Median cycles over the blocks of the last launch.
  double median_cycles(std::size_t blocks);

  /// Number of threads that read the expected values; kernels add to it.
  std::uint32_t* found() const { return found_.get(); }
  void clear_found();
  /// Throws unless exactly `threads` threads read the expected values.
  void expect_found(std::size_t threads, std::string_view what);

  /// Median time (s) of a launch between two events, after one that is not counted. A spin keeps
  /// the device busy while the host enqueues.
  double seconds(const std::function<void()>& launch, int samples = 5);
  /// Median time without that spin, and the mean SM clock over all counted launches.
  TimedLaunch timed(const std::function<void()>& launch, int samples = 5);
  /// Median time (s) of a launch between two events, each after `before`, which has to keep the
  /// device busy while the host enqueues.
  double seconds_after(const std::function<void()>& before, const std::function<void()>& launch,
                       int samples);

  void flush_l2() { flush_.enqueue(stream()); }
  /// Enqueues a kernel that keeps one SM busy for about that long.
  void spin(double seconds);
  void wait() { check(cudaStreamSynchronize(stream())); }
  template <class T>
  std::vector<T> read(const T* device, std::size_t count) {
    std::vector<T> host(count);
    check(cudaMemcpyAsync(host.data(), device, count * sizeof(T), cudaMemcpyDefault, stream()));
    wait();
    return host;
  }

 private:
  int sm_count_;
  std::size_t l2_bytes_;
  std::size_t buffer_bytes_;
  harness::Stream stream_;
  harness::Event start_;
  harness::Event stop_;
  harness::DevicePointer<std::byte> buffer_;
  harness::DevicePointer<std::uint64_t> cycles_;
  harness::DevicePointer<std::uint32_t> found_;
  harness::L2Flush flush_;
  harness::ClockProbe probe_;
};

double median(std::vector<double> values);

}  // namespace roofcast::microbench
