// Time of small kernels over few bytes, from a warm or a cold L2, with its intercept at 0 B: the
// time beyond an empty kernel's is the cost of first and last accesses.
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

enum class Does : unsigned char { nothing, reads, writes, copies };

// One vector per thread, as in a plain elementwise kernel.
template <Does kDoes>
__global__ void __launch_bounds__(256) pass_once(const uint4* in, uint4* out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  uint4 v = make_uint4(Lab::kFill, Lab::kFill, Lab::kFill, Lab::kFill);
  if constexpr (kDoes == Does::reads || kDoes == Does::copies) v = in[i];
  if constexpr (kDoes == Does::writes || kDoes == Does::copies) out[i] = v;
  if constexpr (kDoes == Does::reads) {
    if (v.x == 0x5eed) out[i] = v;  // never
  }
}

constexpr std::size_t kKiB = 1024;
constexpr int kSamples = 21;
constexpr double kBusy_s = 30e-6;

template <Does kDoes>
double once_s(Lab& lab, std::size_t bytes, bool cold) {
  const auto blocks = static_cast<unsigned>(bytes / sizeof(uint4) / 256);
  auto* out = lab.buffer<uint4>();
  const uint4* in = out + lab.buffer_bytes() / sizeof(uint4) / 2;
  const auto run = [&] {
    pass_once<kDoes><<<blocks, 256, 0, lab.stream()>>>(in, out);
    check(cudaGetLastError());
  };
  const auto prepare = [&] {
    if (cold) return lab.flush_l2();
    run();
    lab.spin(kBusy_s);
  };
  return lab.seconds_after(prepare, run, kSamples);
}

template <Does kDoes>
void measure(Lab& lab, const char* series, bool cold, Curves& out) {
  validation::Curve curve{"first_and_last", series, "bytes", "s", {}};
  for (std::size_t bytes = 64 * kKiB; bytes <= 2048 * kKiB; bytes *= 2) {
    curve.points.push_back({static_cast<double>(bytes), once_s<kDoes>(lab, bytes, cold)});
  }
  out.push_back(validation::single("first_and_last", std::string(series) + ", at 0 B", "s",
                                   validation::line_through(curve.points).at_zero));
  out.push_back(std::move(curve));
}

}  // namespace

Curves first_and_last(Lab& lab) {
  Curves out;
  measure<Does::nothing>(lab, "nothing", false, out);
  measure<Does::reads>(lab, "reads", false, out);
  measure<Does::writes>(lab, "writes", false, out);
  measure<Does::copies>(lab, "copies", false, out);
  measure<Does::nothing>(lab, "nothing, cold", true, out);
  measure<Does::reads>(lab, "reads, cold", true, out);
  measure<Does::writes>(lab, "writes, cold", true, out);
  measure<Does::copies>(lab, "copies, cold", true, out);
  return out;
}

}  // namespace roofcast::microbench
