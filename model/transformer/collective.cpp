#include "model/transformer/collective.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/constants/steps.hpp"
#include "model/types/problem.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {
namespace {

// Relative half-width of the interval: 90% of the calibration's even rows lie within 18.6%.
constexpr double kSpread = 0.20;
// Assumed half-width between machines and over PCIe: networks and machines differ.
constexpr double kNetworkSpread = 0.5;
constexpr double kMostGpus = 4096;
// GPUs per machine with an NVLink switch, as in the calibration's rows.
constexpr double kGpusOfMachine = 8;
// Latency of a message between two machines.
constexpr double kNetworkStepSeconds = 10e-6;

double rounds(Collective collective) {
  return collective == Collective::all_reduce ? 2 : 1;
}

double steps(Collective collective, double gpus) {
  const bool at_once = collective == Collective::alltoall || collective == Collective::send_recv;
  return at_once ? 1 : rounds(collective) * (gpus - 1);
}

/// Bytes that one GPU sends.
double sent_bytes(const Transfer& t) {
  if (t.kind == Collective::send_recv) return t.bytes;
  return rounds(t.kind) * t.bytes * (t.gpus - 1) / t.gpus;
}

// With in-switch reduction a GPU sends each byte once and receives each result once.
double limit_s(const Transfer& t, const Gpu& gpu) {
  const bool in_switch = t.kind == Collective::all_reduce && gpu.link_in_switch_reduction;
  return (in_switch ? t.bytes : sent_bytes(t)) / (*gpu.link_bytes_per_s / 2);
}

/// Bytes that one GPU's adapter sends to other machines.
double network_bytes(const Transfer& t, double of_machine) {
  if (t.kind == Collective::alltoall) return t.bytes * (t.gpus - of_machine) / t.gpus;
  return t.kind == Collective::send_recv ? t.bytes : sent_bytes(t) / of_machine;
}

/// GPUs of the group per machine, equal on all machines.
double gpus_of_machine(const Transfer& transfer) {
  double most = std::min(transfer.gpus, std::max(1.0, std::floor(kGpusOfMachine / transfer.apart)));
  while (std::fmod(transfer.gpus, most) != 0) --most;
  return most;
}

}  // namespace

Traffic dram_traffic(const Transfer& transfer) {
  const double bytes = transfer.bytes, passed = bytes * (transfer.gpus - 1) / transfer.gpus;
  // A reduce_scatter, then an all_gather in place.
  if (transfer.kind == Collective::all_reduce) return {3 * passed, 2 * passed};
  if (transfer.kind == Collective::reduce_scatter) return {2 * passed, passed};
  return {bytes, bytes};
}

std::string_view link_note(const Gpu& gpu) {
  if (!gpu.link_over_pcie) return "";
  return "transfers over PCIe are forecast as if one switch joined all GPUs: through the host's "
         "processors they take 5 to 20 times as long";
}

LinkCosts link_costs(const Gpu& gpu) {
  std::string lacking, options;
  const auto needed = [&](const std::optional<double>& value, const std::string& key) {
    if (value) return *value;
    lacking += (lacking.empty() ? "link." : ", link.") + key;
    options += " --set " + key + "=VALUE";
    return 0.0;
  };
  const LinkCosts costs{needed(gpu.link_bytes_per_s, "link_bytes_per_s") / 2 *
                            needed(gpu.collective_link_share, "collective_link_share"),
                        needed(gpu.collective_start_s, "collective_start_s"),
                        needed(gpu.collective_step_s, "collective_step_s")};
  require(lacking.empty(), "collectives need ", lacking, ", which the specification of '", gpu.name,
          "' lacks: add it, or give", options);
  return costs;
}

CollectiveTime collective_time(const Transfer& t, const LinkCosts& link) {
  // Start cost, cost of a dependent step and time per byte, each ÷ the link's.
  struct Protocol {
    double start, step, bytes;
  };
  const Protocol low_latency{1, 1, constants::kLowLatencyBytes},
      line_128{constants::kLine128Start, constants::kLine128Step, constants::kLine128Bytes},
      simple{constants::kSimpleStart, constants::kSimpleStep, 1};
  const double own =
      t.kind == Collective::send_recv ? 0 : constants::kOwnByteShare * t.bytes / t.gpus;
  const double start =
      link.start_s * (t.kind == Collective::alltoall ? double{constants::kAlltoallStart} : 1);
  CollectiveTime best;
  for (const auto& [of_start, of_step, of_byte] : {low_latency, line_128, simple}) {
    const CollectiveTime one{of_start * start + of_step * steps(t.kind, t.gpus) * link.step_s,
                             of_byte * (sent_bytes(t) + own) / link.bytes_per_s};
    if (best.total_s() == 0 || one.total_s() < best.total_s()) best = one;
  }
  return best;
}

CollectiveForecast predict_collective(const Transfer& transfer, const Gpu& gpu,
                                      double network_bytes_per_s) {
  const auto [collective, bytes, gpus, apart] = transfer;
  const bool counts = gpus == std::floor(gpus) && gpus >= 2 && gpus <= kMostGpus;
  const bool full = apart != 1 || gpus <= kGpusOfMachine || std::fmod(gpus, kGpusOfMachine) == 0;
  require(counts && full,
          "'gpus' of a collective is 2 to 8, those of one machine, or a multiple of 8, found ",
          figure_text(gpus));
  require(bytes >= 1 && bytes <= 1e15, "'bytes' is 1 to 1e15, found ", figure_text(bytes));
  const LinkCosts link = link_costs(gpu);
  const double of_machine = gpus_of_machine(transfer);
  CollectiveTime time{link.start_s, 0};
  double limit = 0;
  if (of_machine > 1) {
    const Transfer inside{collective, bytes, of_machine};
    time = collective_time(inside, link);
    limit = limit_s(inside, gpu);
  }
  double spread = gpu.link_over_pcie ? kNetworkSpread : kSpread;
  if (of_machine < gpus) {
    const double between_s = network_bytes(transfer, of_machine) / network_bytes_per_s;
    time.bytes_s = std::max(time.bytes_s, between_s);
    time.start_s += steps(collective, gpus / of_machine) * kNetworkStepSeconds;
    limit = std::max(limit, between_s / rounds(collective));  // the network may reduce too
    spread = kNetworkSpread;
  }
  const double expected = std::max(limit, time.total_s());
  return {{.expected_s = expected,
           .low_s = std::max(limit, expected / (1 + spread)),
           .high_s = expected * (1 + spread)},
          limit,
          time.start_s};
}

}  // namespace roofcast::transformer
