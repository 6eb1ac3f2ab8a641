#pragma once
// Collectives among the GPUs of one machine, and of several machines joined by a network.
#include <array>
#include <string_view>

#include "model/types/gpu.hpp"
#include "model/types/work.hpp"

namespace roofcast::transformer {

/// A time with its interval.
struct Duration {
  double expected_s = 0;
  double low_s = 0;
  double high_s = 0;
  double energy_j = 0;  ///< Forecast::energy_j; 0 for transfers

  /// Adds `times` repetitions of a time with its interval.
  void add(double times, const Duration& one) {
    expected_s += times * one.expected_s;
    low_s += times * one.low_s;
    high_s += times * one.high_s;
    energy_j += times * one.energy_j;
  }
  void scale(double share) {
    expected_s *= share;
    low_s *= share;
    high_s *= share;
    energy_j *= share;
  }
};

/// send_recv: each GPU sends to the next one.
enum class Collective : unsigned char {
  all_reduce,
  all_gather,
  reduce_scatter,
  alltoall,
  send_recv
};

inline constexpr std::array kCollectives = {Collective::all_reduce, Collective::all_gather,
                                            Collective::reduce_scatter, Collective::alltoall,
                                            Collective::send_recv};
constexpr std::string_view name(Collective collective) {
  return word_of(collective,
                 {"all_reduce", "all_gather", "reduce_scatter", "alltoall", "send_recv"});
}

/// One collective among GPUs.
struct Transfer {
  Collective kind = Collective::all_reduce;
  double bytes = 0;  ///< one GPU's input; for all_gather: its result
  double gpus = 2;
  double apart = 1;  ///< rank stride of the group: a machine of 8 GPUs holds 8 / apart members
};

/// DRAM traffic of one GPU, bytes: each byte sent is read, each byte received is written, and a
/// reduction also reads its own operand. all_gather and alltoall also copy the GPU's own share.
Traffic dram_traffic(const Transfer& transfer);

/// Links between GPUs, from the specification (hw_specs, group "link").
struct LinkCosts {
  double bytes_per_s = 0;  ///< sustained, in one direction
  double start_s = 0;
  double step_s = 0;
};

/// Rate of a network between machines (InfiniBand, RoCE): a GPU's adapter, one direction; 400 Gb/s.
inline constexpr double kNetworkBytesPerSecond = 50e9;

/// Limitation of the GPU's transfer forecasts, as a note; empty: none.
std::string_view link_note(const Gpu& gpu);

/// Throws InputError that names the values missing in the specification.
LinkCosts link_costs(const Gpu& gpu);

struct CollectiveTime {
  double start_s = 0;  ///< start and steps
  double bytes_s = 0;
  double total_s() const { return start_s + bytes_s; }
};
/// Expected time by NCCL's fastest protocol (alpha-beta). A ring takes gpus − 1 steps and sends
/// (gpus − 1)/gpus of the bytes; an all_reduce does both twice. alltoall and send_recv take one
/// step; send_recv sends all bytes. Bytes that stay on their GPU are copied.
CollectiveTime collective_time(const Transfer& transfer, const LinkCosts& link);

struct CollectiveForecast : Duration {
  double limit_s = 0;  ///< bytes that must cross the link ÷ its datasheet rate
  double start_s = 0;  ///< part of expected_s: start and steps
};

/// The forecast with its interval. A group larger than a machine is spread evenly over several.
/// Each of a machine's g adapters carries one ring, 1/g of a GPU's bytes; in alltoall and
/// send_recv, all bytes that its GPU sends to other machines. Throws InputError for bytes outside 1
/// to 1e15, GPUs outside 2 to 4096 or, if apart = 1, more than 8 GPUs that are no multiple of 8.
CollectiveForecast predict_collective(const Transfer& transfer, const Gpu& gpu,
                                      double network_bytes_per_s = kNetworkBytesPerSecond);

}  // namespace roofcast::transformer
