// One walk through memory by chosen SMs, for the studies of L2's contents.
#include <algorithm>

#include "validation/calibration/memory_study/study.hpp"
#include "validation/calibration/microbench/device.cuh"

namespace roofcast::microbench {
namespace {

constexpr unsigned kThreads = 1024;
constexpr unsigned kUnroll = 4;
constexpr std::size_t kChunkBytes = kThreads * sizeof(uint4);
constexpr std::size_t kOneBlockAnSm = 120 * 1024;  // of shared memory
constexpr int kMostSms = 256;

struct RoleTable {
  short rank_of_sm[kMostSms];
  int ranks;
};

struct Path {
  std::uint32_t chunks;
  bool backward;
};

__device__ unsigned sm_id() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

// An idle block occupies its SM until every other block has started on another one.
__device__ void hold_sm() {
  constexpr long long kCycles = 6000;
  const long long start = clock64();
  while (clock64() - start < kCycles) {
  }
}

template <Access kAccess>
__global__ void __launch_bounds__(kThreads, 1)
    walk(const uint4* in, uint4* out, Path path, const __grid_constant__ RoleTable roles,
         std::uint32_t* never) {
  const int rank = roles.rank_of_sm[sm_id()];
  if (rank < 0) {
    hold_sm();
    return;
  }
  const auto ranks = static_cast<std::uint32_t>(roles.ranks);
  std::uint32_t sum = 0;
  for (auto turn = static_cast<std::uint32_t>(rank); turn < path.chunks; turn += kUnroll * ranks) {
    uint4 v[kUnroll];
    std::size_t at[kUnroll];
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      const std::uint32_t next = turn + u * ranks;
      const std::uint32_t chunk = path.backward ? path.chunks - 1 - next : next;
      at[u] = std::size_t{chunk} * kThreads + threadIdx.x;
      v[u] = make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
      if (kAccess != Access::write && next < path.chunks) v[u] = load_past_l1(in + at[u]);
    }
#pragma unroll
    for (unsigned u = 0; u < kUnroll; ++u) {
      if (kAccess != Access::read && turn + u * ranks < path.chunks) out[at[u]] = v[u];
      sum += sum_of(v[u]);
    }
  }
  if (kAccess == Access::read && sum == 0x5eed5eed) *never += 1;
}

template <Access kAccess>
void launch_walk(Lab& lab, const RoleTable& roles, const uint4* in, uint4* out, Path path) {
  check(cudaFuncSetAttribute(walk<kAccess>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kOneBlockAnSm)));
  walk<kAccess>
      <<<lab.sms(), kThreads, kOneBlockAnSm, lab.stream()>>>(in, out, path, roles, lab.found());
  check(cudaGetLastError());
}

}  // namespace

int Halves::count(int half) const {
  return static_cast<int>(std::count(half_of_sm.begin(), half_of_sm.end(), half));
}

Roles everyone(const Lab& lab) {
  Roles out;
  out.ranks = lab.sm_count();
  for (int sm = 0; sm < lab.sm_count(); ++sm) out.rank_of_sm.push_back(sm);
  return out;
}

Roles swapped(const Halves& halves) {
  std::vector<int> members[2];
  Roles out;
  for (std::size_t sm = 0; sm < halves.half_of_sm.size(); ++sm) {
    members[halves.half_of_sm[sm]].push_back(static_cast<int>(sm));
    out.rank_of_sm.push_back(static_cast<int>(sm));
  }
  for (std::size_t i = 0; i < std::min(members[0].size(), members[1].size()); ++i) {
    out.rank_of_sm[static_cast<std::size_t>(members[0][i])] = members[1][i];
    out.rank_of_sm[static_cast<std::size_t>(members[1][i])] = members[0][i];
  }
  out.ranks = static_cast<int>(out.rank_of_sm.size());
  return out;
}

Roles one_half(const Halves& halves, int half) {
  Roles out;
  for (const int its : halves.half_of_sm) out.rank_of_sm.push_back(its == half ? out.ranks++ : -1);
  return out;
}

Roles both_halves(const Halves& halves) {
  int next[2] = {0, 0};
  Roles out;
  out.ranks = std::min(halves.count(0), halves.count(1));
  for (const int half : halves.half_of_sm) {
    out.rank_of_sm.push_back(next[half] < out.ranks ? next[half]++ : -1);
  }
  return out;
}

Roles all_read_all(const Lab& lab) {
  Roles out;
  out.ranks = 1;
  out.rank_of_sm.assign(lab.sms(), 0);
  return out;
}

void enqueue_walk(Lab& lab, const Roles& roles, Access access, std::size_t offset,
                  std::size_t bytes, Order order) {
  RoleTable table{};
  table.ranks = roles.ranks;
  std::fill(std::begin(table.rank_of_sm), std::end(table.rank_of_sm), short{-1});
  std::copy(roles.rank_of_sm.begin(), roles.rank_of_sm.end(), table.rank_of_sm);
  const Path path{static_cast<std::uint32_t>(bytes / kChunkBytes), order == Order::backward};
  uint4* const at = lab.buffer<uint4>() + offset / sizeof(uint4);
  uint4* const beyond = at + std::size_t{path.chunks} * kThreads;
  switch (access) {
    case Access::read:
      launch_walk<Access::read>(lab, table, at, at, path);
      break;
    case Access::write:
      launch_walk<Access::write>(lab, table, at, at, path);
      break;
    case Access::copy:
      launch_walk<Access::copy>(lab, table, at, beyond, path);
      break;
  }
}

void dirty_cache(Lab& lab) {
  const std::size_t bytes = 2 * lab.l2_bytes();
  enqueue_walk(lab, everyone(lab), Access::write, lab.buffer_bytes() - bytes, bytes);
}

}  // namespace roofcast::microbench
