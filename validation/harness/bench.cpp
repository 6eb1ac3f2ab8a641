#include "validation/harness/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/catalog.hpp"
#include "model/catalog.hpp"
#include "model/counting/totals.hpp"
#include "model/predict.hpp"
#include "validation/harness/interrupt.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::harness {
namespace {

using validation::Case;
using validation::SuiteCase;

constexpr double kShortestGraph = 150e-6;  // seconds, in which the host can enqueue the next graph
constexpr double kTooSlowToCount = 1;      // seconds per launch
constexpr std::size_t kFewestLaunches = 20;
constexpr std::size_t kMostLaunches = 4096;
constexpr std::uint64_t kSeed = 1;

const cuda::KernelEntry& runnable(std::string_view name, const Problem& problem) {
  const cuda::KernelEntry* kernel = cuda::find(name);
  if (kernel == nullptr) throw CannotRun(fmt::format("this build has no kernel {}", name));
  if (const std::string why = kernel->unsupported(problem); !why.empty()) throw CannotRun(why);
  return *kernel;
}

Launcher launcher(const cuda::KernelEntry& kernel, const Problem& problem,
                  const std::vector<BufferSet>& sets) {
  return [&kernel, &problem, &sets](std::size_t set, cudaStream_t stream) {
    kernel.run(problem, sets[set].addresses(), stream);
  };
}

/// Adds occupancy and resources of the kernel's first launch, from the CUDA runtime; nothing for a
/// library whose launches are not known.
void add_launch_facts(const cuda::KernelEntry& kernel, Case& out) {
  const std::vector<cuda::Launch> launches = kernel.launches(out.problem);
  if (launches.empty()) return;
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
  out.blocks_per_sm = blocks;
  out.registers = attributes.numRegs;
  out.shared_bytes = static_cast<std::int64_t>(attributes.sharedSizeBytes + launch.shared_bytes);
}

}  // namespace

Bench::Bench(const Device& device, std::function<void(const std::string& text)> notice)
    : device_(device),
      flush_(device.l2_bytes, device.sm_count),
      timer_(flush_, device.sm_count),
      notice_(std::move(notice)) {}

// The baseline's result is checked like the kernel's, since the run file holds its time too. If it
// is wrong, the case is measured without a baseline.
const cuda::KernelEntry* Bench::right_baseline(const cuda::KernelEntry& kernel,
                                               const Problem& problem, const BufferSet& buffers) {
  const cuda::KernelEntry* baseline = cuda::baseline(kernel.name);
  if (baseline == nullptr || !baseline->unsupported(problem).empty()) return nullptr;
  try {
    (void)correctness_.error_of(kernel, *baseline, problem, buffers, kSeed, timer_.stream());
    return baseline;
  } catch (const WrongResult& error) {
    if (notice_) {
      notice_(fmt::format("{} is measured without its baseline: {}", kernel.name, error.what()));
    }
    return nullptr;
  }
}

void Bench::check_ragged(const cuda::KernelEntry& kernel, const Problem& problem) {
  const auto companion = ragged_companion(kernel, problem);
  if (!companion) return;
  const std::string text =
      fmt::format("{} {}", kernel.name, validation::problem_text(kernel.name, *companion));
  if (!checked_ragged_.insert(text).second) return;
  const cuda::Tensors tensors = kernel.tensors(*companion);
  arena_.reset(arena_bytes(tensors));
  const BufferSet buffers(kernel, *companion, arena_, kSeed, timer_.stream());
  (void)correctness_.error_of(kernel, kernel, *companion, buffers, kSeed, timer_.stream());
}

// A function that reads into L2 the input that an earlier kernel would have written; empty if there
// is no such input.
std::function<void(cudaStream_t)> Bench::warming(const std::string& kernel, const Problem& problem,
                                                 const BufferSet& buffers, const Gpu& gpu) const {
  const KernelRef found = find_kernel(kernel);
  const auto input = activation_of(found.kernel->plan(with_settings(found, problem, gpu), gpu));
  if (!input) return {};
  const void* const address = buffers.addresses().inputs[input->input];
  const auto bytes = static_cast<std::size_t>(input->bytes);
  return [this, address, bytes](cudaStream_t stream) { flush_.bring_in(address, bytes, stream); };
}

Bench::Rotation Bench::rotation(std::size_t set_bytes, double estimate_s) const {
  const std::size_t enough = 3 * device_.l2_bytes;
  const std::size_t sets =
      set_bytes == 0 ? 1 : std::clamp<std::size_t>(enough / set_bytes + 1, 2, kMostLaunches);
  const auto long_enough = static_cast<std::size_t>(kShortestGraph / std::max(estimate_s, 1e-6));
  const std::size_t wanted = std::clamp(long_enough, kFewestLaunches, kMostLaunches);
  return {sets, (wanted + sets - 1) / sets * sets};
}

Case Bench::time(const SuiteCase& wanted, const Gpu& gpu) {
  const Problem& problem = wanted.problem;
  const cuda::KernelEntry& kernel = runnable(wanted.kernel, problem);
  check_ragged(kernel, problem);

  Case out;
  out.kernel = wanted.kernel;
  out.problem = problem;
  add_launch_facts(kernel, out);

  const cuda::Tensors tensors = kernel.tensors(problem);
  const std::size_t set_bytes = arena_bytes(tensors);
  arena_.reset(set_bytes);
  std::vector<BufferSet> sets;
  sets.emplace_back(kernel, problem, arena_, kSeed, timer_.stream());
  out.error = correctness_.error_of(kernel, kernel, problem, sets[0], kSeed, timer_.stream());
  const cuda::KernelEntry* baseline = right_baseline(kernel, problem, sets[0]);
  stop_if_raised();

  Contenders contenders;
  contenders.kernel = launcher(kernel, problem, sets);
  if (baseline != nullptr) {
    contenders.baseline = launcher(*baseline, problem, sets);
    out.baseline = baseline->name;
  }
  const double estimate_s = timer_.estimate_cold_s(contenders.kernel);
  out.cache = wanted.cache.value_or(estimate_s < validation::kSteadyBelow_s ? CacheState::steady
                                                                            : CacheState::cold);
  Timed timed;
  if (out.cache != CacheState::steady) {
    if (out.cache == CacheState::warm) {
      contenders.before = warming(wanted.kernel, problem, sets[0], gpu);
    }
    timed = timer_.single(contenders, estimate_s);
  } else {
    const Rotation turn = rotation(set_bytes, estimate_s);
    arena_.reset(turn.sets * set_bytes);
    sets.clear();
    for (std::size_t i = 0; i < turn.sets; ++i) {
      sets.emplace_back(kernel, problem, arena_, kSeed + i, timer_.stream());
    }
    timed = timer_.steady(contenders, estimate_s, turn.sets, turn.launches);
  }
  out.timing = std::move(timed.kernel);
  out.baseline_timing = std::move(timed.baseline);
  out.sm_clock_hz = timed.sm_clock_hz;
  return out;
}

validation::Counters Bench::count(const Case& measured, CounterSession& session) {
  if (measured.timing.median_s() > kTooSlowToCount) return {};
  const cuda::KernelEntry& kernel = runnable(measured.kernel, measured.problem);
  const cuda::Tensors tensors = kernel.tensors(measured.problem);
  arena_.reset(arena_bytes(tensors));
  const BufferSet buffers(kernel, measured.problem, arena_, kSeed, timer_.stream());
  cudaStream_t stream = timer_.stream();
  const auto prepare = [&] {
    flush_.enqueue(stream);
    cuda::check(cudaStreamSynchronize(stream));
  };
  return session.count(prepare, [&] {
    kernel.run(measured.problem, buffers.addresses(), stream);
    cuda::check(cudaStreamSynchronize(stream));
  });
}

}  // namespace roofcast::harness
