#include "model/transformer/collective.hpp"

#include <algorithm>
#include <string>

#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

// GPUs that one switched machine joins: what the rows of the calibration hold.
constexpr double kMostGpus = 8;

// Half-width of the interval, relative: nine tenths of the even rows lie within 18.6%.
constexpr double kSpread = 0.20;

double rounds(Collective collective) {
  return collective == Collective::all_reduce ? 2 : 1;
}

double steps(Collective collective, double gpus) {
  return collective == Collective::alltoall ? 1 : rounds(collective) * (gpus - 1);
}

struct Parts {
  double start_s;
  double bytes_s;
  double total() const { return start_s + bytes_s; }
};

Parts parts(Collective collective, double bytes, double gpus, const LinkCosts& link,
            const CollectiveConstants& constants) {
  const double sent = rounds(collective) * bytes * (gpus - 1) / gpus;
  const double own = constants.own_share * bytes / gpus;
  const double start =
      link.start_s * (collective == Collective::alltoall ? constants.alltoall_start : 1);
  Parts best{0, 0};
  for (const Protocol& protocol : constants.protocols) {
    const Parts one{protocol.start * start + protocol.step * steps(collective, gpus) * link.step_s,
                    protocol.bytes * (sent + own) / link.bytes_per_s};
    if (best.total() == 0 || one.total() < best.total()) best = one;
  }
  return best;
}

// A switch that adds up takes each byte once and returns each once.
double limit_s(Collective collective, double bytes, double gpus, const Gpu& gpu) {
  const double one_way = *gpu.link_bytes_per_s / 2;
  const bool in_switch = collective == Collective::all_reduce && gpu.link_in_switch_reduction;
  return (in_switch ? bytes : rounds(collective) * bytes * (gpus - 1) / gpus) / one_way;
}

double needed(const std::optional<double>& value, const Gpu& gpu, const char* key) {
  if (value) return *value;
  throw InputError("collectives need link." + std::string(key) + ", which the specification of '" +
                   gpu.name + "' lacks: add it, or give it with --set " + key + "=VALUE");
}

}  // namespace

LinkCosts link_costs(const Gpu& gpu) {
  const double one_way = needed(gpu.link_bytes_per_s, gpu, "link_bytes_per_s") / 2;
  return {one_way * needed(gpu.collective_link_share, gpu, "collective_link_share"),
          needed(gpu.collective_start_s, gpu, "collective_start_s"),
          needed(gpu.collective_step_s, gpu, "collective_step_s")};
}

double expected_collective_s(Collective collective, double bytes, double gpus,
                             const LinkCosts& link, const CollectiveConstants& constants) {
  return parts(collective, bytes, gpus, link, constants).total();
}

CollectiveForecast predict_collective(Collective collective, double bytes, double gpus,
                                      const Gpu& gpu) {
  if (!(gpus >= 2 && gpus <= kMostGpus)) {
    throw InputError("'gpus' is 2 to 8: those that one NVLink switch joins");
  }
  if (!(bytes >= 1 && bytes <= 1e15)) throw InputError("'bytes' is 1 to 1e15");
  const LinkCosts link = link_costs(gpu);
  const Parts time = parts(collective, bytes, gpus, link, {});
  const double limit = limit_s(collective, bytes, gpus, gpu);
  const double expected = std::max(limit, time.total());
  return {limit, expected, std::max(limit, expected / (1 + kSpread)), expected * (1 + kSpread),
          time.start_s};
}

}  // namespace roofcast::transformer
