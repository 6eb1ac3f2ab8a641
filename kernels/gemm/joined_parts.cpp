#include "kernels/gemm/joined_parts.hpp"

#include <atomic>
#include <chrono>

namespace roofcast::cuda::gemm {
namespace {

// A ticket that no earlier launch had, and that scratch memory holds by chance once in 2^64: a
// counter from the time of the first launch, mixed (splitmix64) so that it is unlike the patterns
// that memory is filled with.
std::uint64_t new_ticket() {
  static std::atomic<std::uint64_t> count{
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())};
  std::uint64_t mixed = (count += 0x9e3779b97f4a7c15);
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

}  // namespace

std::size_t WorkspaceSize::bytes() const {
  if (flags == 0) return 0;
  return sizeof(float4) + static_cast<std::size_t>(fours) * sizeof(float4) +
         static_cast<std::size_t>(flags) * sizeof(std::uint64_t);
}

Workspace WorkspaceSize::at(void* scratch) const {
  if (flags == 0) return {};
  const auto begin = (reinterpret_cast<std::uintptr_t>(scratch) + sizeof(float4) - 1) /
                     sizeof(float4) * sizeof(float4);
  auto* const sums = reinterpret_cast<float4*>(begin);
  return {sums, reinterpret_cast<std::uint64_t*>(sums + fours), new_ticket()};
}

}  // namespace roofcast::cuda::gemm
