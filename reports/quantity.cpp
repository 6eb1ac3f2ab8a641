#include "reports/quantity.hpp"

#include <array>
#include <limits>

namespace roofcast::reports {
namespace {

using validation::Case;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kSectorBytes = 32;

std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<double> dram_bytes(const Case& item) {
  return sum(item.counters.dram_read_bytes, item.counters.dram_write_bytes);
}

double ratio(double over, double under) {
  return under > 0 ? over / under : kNone;
}

double warp_share(const Prediction& p, const Gpu& gpu) {
  if (!p.occupancy || !gpu.occupancy) return kNone;
  return ratio(static_cast<double>(p.occupancy->warps_per_sm),
               static_cast<double>(gpu.occupancy->warps_per_sm));
}

constexpr std::array kQuantities = {
    Quantity{"time", "Time", "s",
             [](const Prediction& /*p*/, const Gpu& /*gpu*/, double s) { return s; }, true,
             nullptr},
    Quantity{"bandwidth", "Bandwidth of requested bytes", "B/s",
             [](const Prediction& p, const Gpu& /*gpu*/, double s) {
               return ratio(p.work.requested.total_bytes(), s);
             },
             true, nullptr},
    Quantity{"dram_bandwidth", "DRAM bandwidth", "B/s",
             [](const Prediction& p, const Gpu& /*gpu*/, double s) {
               return ratio(p.work.dram.total_bytes(), s);
             },
             true,
             [](const Case& item, const Prediction& /*p*/) -> std::optional<double> {
               const auto bytes = dram_bytes(item);
               return bytes ? std::optional(*bytes / item.timing.median_s()) : std::nullopt;
             }},
    Quantity{"dram_bytes", "Bytes between L2 and DRAM", "B",
             [](const Prediction& p, const Gpu& /*gpu*/, double /*s*/) {
               return p.work.dram.total_bytes();
             },
             false, [](const Case& item, const Prediction& /*p*/) { return dram_bytes(item); }},
    Quantity{"l2_bytes", "Bytes between SMs and L2", "B",
             [](const Prediction& p, const Gpu& /*gpu*/, double /*s*/) {
               return p.work.l2.total_bytes();
             },
             false,
             [](const Case& item, const Prediction& /*p*/) {
               return sum(item.counters.l2_read_bytes, item.counters.l2_write_bytes);
             }},
    Quantity{"l1_sectors", "Sectors between threads and L1", "",
             [](const Prediction& p, const Gpu& /*gpu*/, double /*s*/) {
               return p.work.l1.total_bytes() / kSectorBytes;
             },
             false,
             [](const Case& item, const Prediction& /*p*/) {
               return sum(item.counters.l1_load_sectors, item.counters.l1_store_sectors);
             }},
    Quantity{"waste", "DRAM bytes for each byte requested", "×",
             [](const Prediction& p, const Gpu& /*gpu*/, double /*s*/) {
               return ratio(p.work.dram.total_bytes(), p.work.requested.total_bytes());
             },
             false,
             [](const Case& item, const Prediction& p) -> std::optional<double> {
               const auto bytes = dram_bytes(item);
               return bytes ? std::optional(ratio(*bytes, p.work.requested.total_bytes()))
                            : std::nullopt;
             }},
    Quantity{
        "rate", "Arithmetic rate", "FLOP/s",
        [](const Prediction& p, const Gpu& /*gpu*/, double s) { return ratio(p.useful_flops, s); },
        true, nullptr},
    Quantity{"occupancy", "Occupancy: resident warps of the most an SM holds", "%",
             [](const Prediction& p, const Gpu& gpu, double /*s*/) { return warp_share(p, gpu); },
             false,
             [](const Case& /*item*/, const Prediction& /*p*/) -> std::optional<double> {
               return std::nullopt;
             }},
    Quantity{
        "fraction_of_limit", "Share of the limit reached", "%",
        [](const Prediction& p, const Gpu& /*gpu*/, double s) { return ratio(p.limit.time_s, s); },
        true, nullptr}};

}  // namespace

std::span<const Quantity> quantities() {
  return kQuantities;
}

double predicted(const Quantity& quantity, const Prediction& prediction, const Gpu& gpu) {
  if (!prediction.time) return quantity.of_time ? kNone : quantity.value(prediction, gpu, kNone);
  return quantity.value(prediction, gpu, prediction.time->expected_s);
}

std::optional<double> measured(const Quantity& quantity, const validation::Case& item,
                               const Prediction& prediction, const Gpu& gpu) {
  if (quantity.counted != nullptr) return quantity.counted(item, prediction);
  return quantity.value(prediction, gpu, item.timing.median_s());
}

}  // namespace roofcast::reports
