#include "validation/calibration/microbench/lab.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace roofcast::microbench {
namespace {

constexpr std::size_t kMostBuffer = std::size_t{1} << 32;

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

std::size_t affordable_buffer() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  std::size_t bytes = kMostBuffer;
  while (bytes > free / 4 * 3) bytes /= 2;
  return bytes;
}

__global__ void spin_for(std::uint64_t nanoseconds) {
  std::uint64_t start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Lab::Lab()
    : sm_count_(attribute(cudaDevAttrMultiProcessorCount)),
      l2_bytes_(static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize))),
      buffer_bytes_(affordable_buffer()),
      stream_(harness::make_stream()),
      start_(harness::make_event()),
      stop_(harness::make_event()),
      buffer_(harness::device_alloc<std::byte>(buffer_bytes_)),
      cycles_(harness::device_alloc<std::uint64_t>(kMostBlocks)),
      found_(harness::device_alloc<std::uint32_t>(1)),
      flush_(l2_bytes_, sm_count_),
      probe_(sm_count_) {
  fill_buffer();
}

void Lab::fill_buffer() {
  check(cudaMemsetAsync(buffer_.get(), 1, buffer_bytes_, stream()));
}

double Lab::median_cycles(std::size_t blocks) {
  const auto all = read(cycles(), blocks);
  return median({all.begin(), all.end()});
}

void Lab::clear_found() {
  check(cudaMemsetAsync(found_.get(), 0, sizeof(std::uint32_t), stream()));
}

void Lab::expect_found(std::size_t threads, std::string_view what) {
  const std::uint32_t got = read(found(), 1)[0];
  if (got == threads) return;
  throw std::runtime_error(std::string(what) + ": " + std::to_string(got) + " of " +
                           std::to_string(threads) +
                           " threads read what they should: the device or the microbenchmark is "
                           "at fault, so nothing was written");
}

TimedLaunch Lab::timed(const std::function<void()>& launch, int samples) {
  launch();
  probe_.restart(stream());
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    probe_.begin(stream());
    check(cudaEventRecord(start_.get(), stream()));
    launch();
    check(cudaEventRecord(stop_.get(), stream()));
    probe_.end(stream());
    wait();
    seconds.push_back(harness::seconds_between(start_, stop_));
  }
  return {median(seconds), probe_.clock_hz(stream()).value_or(0)};
}

double Lab::seconds(const std::function<void()>& launch, int samples) {
  launch();
  constexpr double kEnqueuing_s = 30e-6;
  return seconds_after([&] { spin(kEnqueuing_s); }, launch, samples);
}

double Lab::seconds_after(const std::function<void()>& before, const std::function<void()>& launch,
                          int samples) {
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    before();
    check(cudaEventRecord(start_.get(), stream()));
    launch();
    check(cudaEventRecord(stop_.get(), stream()));
    wait();
    seconds.push_back(harness::seconds_between(start_, stop_));
  }
  return median(seconds);
}

void Lab::spin(double seconds) {
  spin_for<<<1, 1, 0, stream()>>>(static_cast<std::uint64_t>(1e9 * seconds));
  check(cudaGetLastError());
}

}  // namespace roofcast::microbench
