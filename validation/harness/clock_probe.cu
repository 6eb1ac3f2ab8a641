#include <vector>

#include "validation/harness/clock_probe.hpp"

namespace roofcast::harness {
namespace {

__global__ void read_clocks(ClockReading* by_sm, unsigned sm_count) {
  unsigned sm;
  std::uint64_t nanoseconds;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  const auto cycles = static_cast<std::uint64_t>(clock64());
  if (threadIdx.x == 0 && sm < sm_count) by_sm[sm] = {cycles, nanoseconds};
}

}  // namespace

ClockProbe::ClockProbe(int sm_count)
    : sm_count_(static_cast<unsigned>(sm_count)),
      readings_(device_alloc<ClockReading>(2 * kIntervals * sm_count_)) {}

void ClockProbe::restart(cudaStream_t stream) {
  intervals_ = 0;
  check(cudaMemsetAsync(readings_.get(), 0, 2 * kIntervals * sm_count_ * sizeof(ClockReading),
                        stream));
}

void ClockProbe::enqueue(std::size_t slot, cudaStream_t stream) const {
  read_clocks<<<sm_count_, 32, 0, stream>>>(readings_.get() + slot * sm_count_, sm_count_);
  check(cudaGetLastError());
}

void ClockProbe::begin(cudaStream_t stream) {
  if (intervals_ < kIntervals) enqueue(2 * intervals_, stream);
}

void ClockProbe::end(cudaStream_t stream) {
  if (intervals_ < kIntervals) enqueue(2 * intervals_++ + 1, stream);
}

std::optional<double> ClockProbe::clock_hz(cudaStream_t stream) const {
  std::vector<ClockReading> all(2 * intervals_ * sm_count_);
  if (all.empty()) return std::nullopt;
  check(cudaMemcpyAsync(all.data(), readings_.get(), all.size() * sizeof(ClockReading),
                        cudaMemcpyDefault, stream));
  check(cudaStreamSynchronize(stream));
  double cycles = 0, nanoseconds = 0;
  for (std::size_t i = 0; i < intervals_; ++i) {
    for (std::size_t sm = 0; sm < sm_count_; ++sm) {
      const ClockReading& from = all[2 * i * sm_count_ + sm];
      const ClockReading& to = all[(2 * i + 1) * sm_count_ + sm];
      if (from.nanoseconds == 0 || to.nanoseconds <= from.nanoseconds) continue;
      cycles += static_cast<double>(to.cycles - from.cycles);
      nanoseconds += static_cast<double>(to.nanoseconds - from.nanoseconds);
    }
  }
  return nanoseconds > 0 ? std::optional(1e9 * cycles / nanoseconds) : std::nullopt;
}

}  // namespace roofcast::harness
