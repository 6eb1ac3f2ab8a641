#include "validation/calibration/microbench/loads.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {

Curves clock_under_load(Lab& lab) {
  constexpr int kSamples = 40;
  const std::size_t all = divided_footprint(lab, lab.buffer_bytes());
  constexpr double kRounds = 4;
  lab.clear_found();
  const double streaming =
      lab.timed([&] { enqueue_reads(lab, all, kRounds * static_cast<double>(all), true); },
                kSamples)
          .clock_hz;
  const double multiplying = lab.timed([&] { enqueue_fma(lab, 5); }, kSamples).clock_hz;
  return {validation::single("clock", "streaming from DRAM", "Hz", streaming),
          validation::single("clock", "fp32 multiply-adds", "Hz", multiplying)};
}

}  // namespace roofcast::microbench
