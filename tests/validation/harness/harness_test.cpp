// The harness on the GPU at hand: a wrong result is never timed, and a signal keeps what was
// measured.
#include "validation/harness/harness.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "hw_specs/loader.hpp"
#include "kernels/catalog.hpp"
#include "tests/kernels/device.hpp"
#include "validation/harness/bench.hpp"
#include "validation/harness/correctness.hpp"
#include "validation/runs/run_file.hpp"

namespace roofcast::harness {
namespace {

using ::testing::HasSubstr;

class HarnessTest : public cuda::GpuTest {
 protected:
  static Problem copy_of(std::int64_t n) {
    Problem p = cuda::find("stream.copy")->configurations.front();
    p[0] = n;
    return p;
  }
};

TEST_F(HarnessTest, AWrongResultIsRefused) {
  const cuda::KernelEntry& right = *cuda::find("stream.copy");
  cuda::KernelEntry idle = right;
  idle.run = [](const Problem&, const cuda::Addresses&, cudaStream_t) {};
  cuda::KernelEntry zeros = right;
  zeros.run = [](const Problem&, const cuda::Addresses& at, cudaStream_t stream) {
    cuda::check(cudaMemsetAsync(at.outputs[0], 0, 4000, stream));
  };
  const Problem problem = copy_of(1000);
  Arena arena;
  arena.reset(arena_bytes(right.tensors(problem)));
  const Stream stream = make_stream();
  const BufferSet buffers(right, problem, arena, 1, stream.get());
  Correctness correctness;
  const auto error_of = [&](const cuda::KernelEntry& solver) {
    return correctness.error_of(right, solver, problem, buffers, 1, stream.get());
  };
  EXPECT_EQ(error_of(right), 0);
  EXPECT_THROW(error_of(idle), WrongResult);
  try {
    (void)error_of(zeros);
    FAIL() << "zeros pass";
  } catch (const WrongResult& error) {
    EXPECT_THAT(error.what(), HasSubstr("error of 1 of its largest value"));
  }
}

Gpu hopper() {
  const specs::Embedded* embedded = specs::find_embedded("h200-sxm");
  return specs::load({.file = std::string(embedded->name),
                      .text = std::string(embedded->text),
                      .overlay_file = {},
                      .overlay_text = {},
                      .overrides = {}});
}

TEST_F(HarnessTest, ASignalKeepsWhatWasMeasured) {
  const Gpu gpu = hopper();
  const auto file = std::filesystem::temp_directory_path() /
                    ("roofcast_harness_test_" + std::to_string(getpid()) + ".json");
  validation::Suite suite{"signal", "", {}};
  for (const std::int64_t n : {1 << 20, 1 << 21, 1 << 22}) {
    suite.cases.push_back({"stream.copy", copy_of(n), CacheState::cold});
  }
  validation::HarnessOptions options;
  options.output = file.string();
  options.counters = false;
  options.progress = [](const validation::Progress& progress) {
    if (progress.done == 1) (void)std::raise(SIGTERM);
  };
  const validation::HarnessResult stopped = validation::run_suite(suite, gpu, options);
  EXPECT_EQ(stopped.stopped_by, SIGTERM);
  EXPECT_EQ(stopped.measured, 1U);
  EXPECT_EQ(validation::read_run(file.string())->cases.size(), 1U);

  options.progress = {};
  const validation::HarnessResult resumed = validation::run_suite(suite, gpu, options);
  EXPECT_EQ(resumed.stopped_by, std::nullopt);
  EXPECT_EQ(resumed.resumed, 1U);
  EXPECT_EQ(resumed.measured, 2U);
  std::filesystem::remove(file);
}

// 16 MB fit any L2 that the suites are run on: warm, the copy reads nothing from DRAM.
TEST_F(HarnessTest, WarmFindsItsInputInL2) {
  const Gpu gpu = hopper();
  Bench bench(device_in_use(), {});
  const auto median_s = [&](CacheState cache) {
    const validation::Case measured = bench.time({"stream.copy", copy_of(4 << 20), cache}, gpu);
    EXPECT_EQ(measured.cache, cache);
    return measured.timing.median_s();
  };
  EXPECT_LT(median_s(CacheState::warm), median_s(CacheState::cold));
}

}  // namespace
}  // namespace roofcast::harness
