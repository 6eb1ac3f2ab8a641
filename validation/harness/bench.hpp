#pragma once
// Checks, times and counts one case on the device.
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "kernels/common/kernel.hpp"
#include "model/types/gpu.hpp"
#include "validation/counters/counters.hpp"
#include "validation/harness/buffers.hpp"
#include "validation/harness/correctness.hpp"
#include "validation/harness/device_record.hpp"
#include "validation/harness/l2_flush.hpp"
#include "validation/harness/timing.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::harness {

/// A case this build cannot run; what() says why.
class CannotRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Bench {
 public:
  /// `notice` is called for baselines that are left out; may be empty.
  Bench(const Device& device, std::function<void(const std::string& text)> notice);

  /// Checks the kernel and its library baseline, then times them alternately. A baseline with a
  /// wrong result is left out. `gpu` is needed to find the input that is warm. Throws CannotRun,
  /// WrongResult or CudaError.
  validation::Case time(const validation::SuiteCase& wanted, const Gpu& gpu);

  /// Counters of one cold launch; none for kernels so slow that the passes would take minutes.
  validation::Counters count(const validation::Case& measured, CounterSession& session);

 private:
  struct Rotation {
    std::size_t sets;
    std::size_t launches;
  };
  Rotation rotation(std::size_t set_bytes, double estimate_s) const;
  std::function<void(cudaStream_t)> warming(const std::string& kernel, const Problem& problem,
                                            const BufferSet& buffers, const Gpu& gpu) const;
  const cuda::KernelEntry* right_baseline(const cuda::KernelEntry& kernel, const Problem& problem,
                                          const BufferSet& buffers);
  void check_ragged(const cuda::KernelEntry& kernel, const Problem& problem);

  Device device_;
  L2Flush flush_;
  Timer timer_;
  Arena arena_;
  Correctness correctness_;
  std::set<std::string> checked_ragged_;
  std::function<void(const std::string& text)> notice_;
};

}  // namespace roofcast::harness
