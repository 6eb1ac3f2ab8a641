// Tuning bench: times a kernel and its library baseline alternately (ABAB) on the same data.
//
//   kernel_bench < cases          one case a line: NAME DTYPE VALUE...   (values as in the Problem)
//   kernel_bench stream.copy fp32 67108864 256 16 4
//
// Prints for each case the kernel's median time and TFLOP/s or TB/s, the baseline's median time,
// and baseline ÷ kernel. L2 is flushed before every launch; while the flush runs, the host enqueues
// the launch, so that the time holds no submission by the host. Data are random normal.
#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include "kernels/catalog.hpp"
#include "kernels/common/data.hpp"
#include "kernels/common/error.hpp"
#include "kernels/gemm/tensor.hpp"
#include "validation/harness/handles.hpp"
#include "validation/harness/l2_flush.hpp"

using namespace roofcast;
using namespace roofcast::cuda;

namespace {

using Buffer = harness::DevicePointer<std::byte>;

// A case runs until kMostLaunches launches or kLongEnough_s of device time. Not counted: the first
// kWarmUp launches, or those of the first kWarm_s if that is shorter.
constexpr int kMostLaunches = 40, kWarmUp = 3;
constexpr double kLongEnough_s = 0.3, kWarm_s = 0.25;

/// Float64 references of the outputs. The last matrix product's reference is kept for the next
/// case: the tile configuration changes neither inputs nor result, and a large reference takes
/// longer than all else.
class References {
 public:
  const std::vector<double*>& of(const KernelEntry& entry, const Problem& p, const Tensors& tensors,
                                 const std::vector<const void*>& inputs) {
    Problem product = p;  // without its tile configuration
    for (const std::size_t setting : {cuda::gemm::kTileM, cuda::gemm::kTileN, cuda::gemm::kTileK}) {
      product[setting] = 0;
    }
    product[cuda::gemm::kSplitK] = product[cuda::gemm::kCluster] = 0;
    product[cuda::gemm::kSplitRest] = 0;
    const bool known = entry.reference == reference_ && product == product_ &&
                       entry.reference == cuda::gemm::tensor_reference;
    if (known) return addresses_;
    buffers_.clear();
    addresses_.clear();
    for (const Tensor& out : tensors.outputs) {
      buffers_.push_back(harness::device_alloc<std::byte>(out.elements * sizeof(double)));
      addresses_.push_back(reinterpret_cast<double*>(buffers_.back().get()));
    }
    entry.reference(p, inputs, addresses_, nullptr);
    reference_ = entry.reference;
    product_ = product;
    return addresses_;
  }

 private:
  decltype(KernelEntry::reference) reference_ = nullptr;
  Problem product_{};
  std::vector<Buffer> buffers_;
  std::vector<double*> addresses_;
};

/// Device buffers of a problem, with random inputs.
class Arguments {
 public:
  Arguments(const KernelEntry& entry, const Problem& p) {
    const Tensors tensors = entry.tensors(p);
    std::vector<void*> inputs;
    std::uint64_t seed = 1;
    for (const Tensor& t : tensors.inputs) {
      inputs.push_back(add(t));
      inputs_.push_back(inputs.back());
      fill_normal(buffers_.back().get(), t.dtype, t.elements, seed++, nullptr);
    }
    if (entry.fill != nullptr) entry.fill(p, inputs, seed, nullptr);
    for (const Tensor& t : tensors.outputs) outputs_.push_back(add(t));
    for (const Tensor& t : tensors.scratch) scratch_.push_back(add(t));
  }
  Addresses addresses() const { return {inputs_, outputs_, scratch_}; }

  /// Largest error ÷ tolerance over the kernel's outputs; a kernel above 1 is not timed.
  double error_over_tolerance(const KernelEntry& entry, const Problem& p, const Tensors& tensors,
                              References& references) {
    for (std::size_t i = 0; i < tensors.outputs.size(); ++i) {
      poison(outputs_[i], tensors.outputs[i].dtype, tensors.outputs[i].elements, nullptr);
    }
    const std::vector<double*>& expected = references.of(entry, p, tensors, inputs_);
    entry.run(p, addresses(), nullptr);
    double worst = 0;
    for (std::size_t i = 0; i < tensors.outputs.size(); ++i) {
      worst = std::max(worst, max_error(outputs_[i], tensors.outputs[i], expected[i], nullptr) /
                                  std::max(entry.tolerance(p, i), 1e-300));
    }
    return worst;
  }

 private:
  void* add(const Tensor& t) {
    buffers_.push_back(harness::device_alloc<std::byte>(bytes_of(t)));
    return buffers_.back().get();
  }
  std::vector<Buffer> buffers_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_, scratch_;
};

class Timer {
 public:
  double seconds(const KernelEntry& entry, const Problem& p, const Addresses& at) {
    flush_.enqueue(nullptr);
    check(cudaEventRecord(start_.get()));
    entry.run(p, at, nullptr);
    check(cudaEventRecord(stop_.get()));
    check(cudaEventSynchronize(stop_.get()));
    return harness::seconds_between(start_, stop_);
  }

 private:
  static harness::L2Flush device_flush() {
    int device = 0, l2_bytes = 0, sm_count = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    check(cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device));
    return {static_cast<std::size_t>(l2_bytes), sm_count};
  }

  harness::L2Flush flush_ = device_flush();
  harness::Event start_ = harness::make_event(), stop_ = harness::make_event();
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void bench(const std::string& line, Timer& timer, References& references) {
  std::istringstream words(line);
  std::string name, type;
  if (!(words >> name >> type) || name.starts_with('#')) return;
  Problem p;
  const std::optional<DType> dtype = parse_dtype(type);
  if (!dtype) {
    std::printf("%s: no such type\n", line.c_str());
    return;
  }
  p.dtype = *dtype;
  std::size_t count = 0;
  while (count < Problem::kMaxParameters && words >> p.values[count]) ++count;

  const KernelEntry* entry = cuda::find(name);
  const std::string why = entry == nullptr ? "no such kernel" : entry->unsupported(p);
  if (!why.empty()) {
    std::printf("%s: %s\n", line.c_str(), why.c_str());
    return;
  }
  const KernelEntry* library = cuda::baseline(name);
  const bool product = name.starts_with("gemm.");
  if (library != nullptr && !library->unsupported(p).empty()) library = nullptr;
  const Tensors tensors = entry->tensors(p);
  Arguments arguments(*entry, p);
  const double error = arguments.error_over_tolerance(*entry, p, tensors, references);
  if (!(error <= 1)) {
    std::printf("%s: WRONG, error %g of tolerance\n", line.c_str(), error);
    return;
  }
  std::vector<double> mine, theirs;
  double spent = 0;
  for (int i = 0; i < kMostLaunches && spent < kLongEnough_s; ++i) {
    const double a = timer.seconds(*entry, p, arguments.addresses());
    const double b = library ? timer.seconds(*library, p, arguments.addresses()) : 0;
    spent += a + b;
    if (i >= kWarmUp || spent > kWarm_s) mine.push_back(a), theirs.push_back(b);
  }
  double bytes = 0;
  for (const auto& list : {tensors.inputs, tensors.outputs}) {
    for (const Tensor& t : list) bytes += static_cast<double>(bytes_of(t));
  }
  const bool batched = entry->reference == cuda::gemm::tensor_reference;
  const double products =
      batched ? static_cast<double>(std::max<std::int64_t>(1, p[cuda::gemm::kBatch])) : 1;
  const double flops = 2 * products * static_cast<double>(p[0] * p[1]) * static_cast<double>(p[2]);
  const double work = 1e-12 * (product ? flops : bytes);
  std::printf("%-62s err %.2f %10.2f us %7.3f %s", line.c_str(), error, median(mine) * 1e6,
              work / median(mine), product ? "TFLOP/s" : "TB/s");
  if (library) {
    std::printf("   library %10.2f us, ratio %.3f", median(theirs) * 1e6,
                median(theirs) / median(mine));
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  Timer timer;
  References references;
  std::string line;
  if (argc > 1) {
    for (int i = 1; i < argc; ++i) line += std::string(argv[i]) + " ";
    bench(line, timer, references);
  } else {
    while (std::getline(std::cin, line)) bench(line, timer, references);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "kernel_bench: %s\n", error.what());
  return 1;
}
