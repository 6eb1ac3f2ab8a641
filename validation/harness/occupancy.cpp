#include "validation/harness/occupancy.hpp"

#include "validation/harness/handles.hpp"

namespace roofcast::harness {

LaunchFacts launch_facts(const cuda::KernelEntry& kernel, const Problem& problem) {
  const std::vector<cuda::Launch> launches = kernel.launches(problem);
  if (launches.empty()) return {};
  const cuda::Launch& launch = launches.front();
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, launch.function));
  if (launch.shared_bytes > static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) {
    check(cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(launch.shared_bytes)));
  }
  int blocks = 0;
  const auto threads = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launch.function, threads,
                                                      launch.shared_bytes));
  return {blocks, attributes.numRegs,
          static_cast<std::int64_t>(attributes.sharedSizeBytes + launch.shared_bytes)};
}

}  // namespace roofcast::harness
