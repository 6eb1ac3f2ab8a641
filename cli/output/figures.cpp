#include "cli/output/figures.hpp"

#include <array>
#include <limits>

namespace roofcast::cli {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

template <class Part>
constexpr double whole(const std::optional<Part>& part, std::int64_t Part::*member) {
  return part ? static_cast<double>((*part).*member) : kNone;
}

template <class Part>
constexpr double real(const std::optional<Part>& part, double Part::*member) {
  return part ? (*part).*member : kNone;
}

double rate(const Prediction& p, double amount) {
  return p.time ? amount / p.time->expected_s : kNone;
}

constexpr std::array kFigures = {
    Figure{"flops", [](const Prediction& p) { return p.work.flops(); }},
    Figure{"compulsory_bytes", [](const Prediction& p) { return p.work.compulsory.total_bytes(); }},
    Figure{"dram_read_bytes", [](const Prediction& p) { return p.work.dram.read_bytes; }},
    Figure{"dram_write_bytes", [](const Prediction& p) { return p.work.dram.write_bytes; }},
    Figure{"l2_bytes", [](const Prediction& p) { return p.work.l2.total_bytes(); }},
    Figure{"shared_bytes", [](const Prediction& p) { return p.work.shared_bytes; }},
    Figure{"io_lower_bound_bytes", [](const Prediction& p) { return p.io.lower_bound_bytes; }},
    Figure{"blocks",
           [](const Prediction& p) {
             return p.launch ? static_cast<double>(p.launch->blocks()) : kNone;
           }},
    Figure{"blocks_per_sm",
           [](const Prediction& p) { return whole(p.occupancy, &Occupancy::blocks_per_sm); }},
    Figure{"warps_per_sm",
           [](const Prediction& p) { return whole(p.occupancy, &Occupancy::warps_per_sm); }},
    Figure{"waves", [](const Prediction& p) { return real(p.waves, &Waves::count); }},
    Figure{"full_waves", [](const Prediction& p) { return whole(p.waves, &Waves::full); }},
    Figure{"tail_utilization",
           [](const Prediction& p) { return real(p.waves, &Waves::tail_utilization); }},
    Figure{"wave_efficiency",
           [](const Prediction& p) { return real(p.waves, &Waves::efficiency); }},
    Figure{"limit_s", [](const Prediction& p) { return p.limit.time_s; }},
    Figure{"expected_s", [](const Prediction& p) { return real(p.time, &Forecast::expected_s); }},
    Figure{"low_s", [](const Prediction& p) { return real(p.time, &Forecast::low_s); }},
    Figure{"high_s", [](const Prediction& p) { return real(p.time, &Forecast::high_s); }},
    Figure{"sm_cycles", [](const Prediction& p) { return real(p.time, &Forecast::sm_cycles); }},
    Figure{"sm_clock_hz", [](const Prediction& p) { return real(p.time, &Forecast::sm_clock_hz); }},
    Figure{"flops_per_s", [](const Prediction& p) { return rate(p, p.useful_flops); }},
    Figure{"dram_bytes_per_s",
           [](const Prediction& p) { return rate(p, p.work.dram.total_bytes()); }},
    Figure{"fraction_of_limit", [](const Prediction& p) { return rate(p, p.limit.time_s); }},
    Figure{"footprint_bytes",
           [](const Prediction& p) { return p.footprint_bytes.value_or(kNone); }}};

}  // namespace

std::span<const Figure> figures() {
  return kFigures;
}

}  // namespace roofcast::cli
