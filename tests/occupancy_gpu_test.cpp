// The occupancy law against cudaOccupancyMaxActiveBlocksPerMultiprocessor on this machine's GPU.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "kernels/catalog.hpp"
#include "kernels/common/error.hpp"
#include "kernels/support/occupancy_probe.hpp"
#include "model/laws/occupancy.hpp"
#include "model/roofcast.hpp"
#include "tests/kernels/device.hpp"
#include "tests/kernels/settings.hpp"

namespace roofcast {
namespace {

class OccupancyOnGpu : public cuda::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    gpu_ = cuda::shipped_like_this();
    if (!gpu_) GTEST_SKIP() << "no specification of this GPU's compute capability";
  }
  std::optional<Gpu> gpu_;
};

TEST_F(OccupancyOnGpu, EqualsCudasAnswerForSyntheticKernels) {
  const auto cases = cuda::probe_occupancy(1000, 20261121);
  ASSERT_EQ(cases.size(), 1000U);
  for (const cuda::OccupancyCase& one : cases) {
    Launch launch;
    launch.block[0] = one.threads;
    launch.registers = one.registers;
    launch.shared_bytes = static_cast<std::int64_t>(one.static_shared + one.dynamic_shared);
    EXPECT_EQ(occupancy(launch, *gpu_->occupancy).blocks_per_sm, one.blocks_per_sm)
        << one.threads << " threads, " << one.registers << " registers, " << launch.shared_bytes
        << " B";
  }
}

// The kernel's plan, or nothing where it refuses the shape: a window of 4097 is no power of two.
LaunchSequence plan_or_nothing(const KernelRef& found, const Problem& problem, const Gpu& gpu) {
  try {
    return found.kernel->plan(problem, gpu);
  } catch (const InputError&) {
    return {};
  }
}

// Blocks per SM by CUDA's calculator; 0 where a block may not have that much shared memory.
int blocks_per_sm(const cuda::Launch& launch) {
  const auto shared = static_cast<int>(launch.shared_bytes);
  if (cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) !=
      cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  int blocks = 0;
  const auto threads = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, launch.function, threads,
                                                            launch.shared_bytes));
  return blocks;
}

// The plan's registers (compiled.inc) are those of the compiled kernel. Another compiler than the
// table's, or code for another architecture, may need others: not checked there.
void expect_registers(const Plan& plan, const cuda::Launch& launch, std::string_view kernel) {
  constexpr int kTableVersion = 13000, kTableArchitecture = 90;
  cudaFuncAttributes attributes{};
  cuda::check(cudaFuncGetAttributes(&attributes, launch.function));
  if (CUDART_VERSION != kTableVersion || attributes.binaryVersion != kTableArchitecture) return;
  EXPECT_EQ(plan.launch.registers, attributes.numRegs) << kernel;
}

// Sizes that fill tiles and sizes that do not: some variants run another kernel for the latter.
TEST_F(OccupancyOnGpu, EqualsCudasAnswerForEveryKernel) {
  int compared = 0;
  for (const cuda::KernelEntry& entry : cuda::catalog()) {
    const KernelRef found = find_kernel(entry.name);
    // The registers of kernels generated at run time are not known in advance.
    const auto parameters = found.parameters();
    if (std::any_of(parameters.begin(), parameters.end(),
                    [](const Parameter& each) { return each.is_text; })) {
      continue;
    }
    for (const Problem& configuration : entry.configurations) {
      for (const DType type : found.dtypes()) {
        for (const std::int64_t size : {4096, 4097}) {
          Problem problem = configuration;
          problem.dtype = type;
          for (std::size_t i = 0; i < found.parameters().size(); ++i) {
            const Parameter& parameter = found.parameters()[i];
            if (!parameter.fallback && !is_named(parameter)) problem[i] = size;
          }
          problem = cuda::settled(entry.name, problem).front();
          if (!entry.unsupported(problem).empty()) continue;
          const auto plans = plan_or_nothing(found, problem, *gpu_);
          if (plans.empty()) continue;
          const auto launches = entry.launches(problem);
          ASSERT_EQ(launches.size(), plans.size());
          for (std::size_t i = 0; i < launches.size(); ++i) {
            const int blocks = blocks_per_sm(launches[i]);
            EXPECT_EQ(occupancy(plans[i].plan.launch, *gpu_->occupancy).blocks_per_sm, blocks)
                << entry.name << " " << name(type) << " size " << size << ", launch " << i
                << ", configuration " << problem[3] << " " << problem[4] << " " << problem[5];
            expect_registers(plans[i].plan, launches[i], entry.name);
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_GE(compared, 100);
}

}  // namespace
}  // namespace roofcast
