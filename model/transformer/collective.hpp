#pragma once
// Collectives among the GPUs of one NVLink switch, and of several machines joined by a network.
#include <array>
#include <string_view>

#include "model/types/gpu.hpp"
#include "model/types/work.hpp"

namespace roofcast::transformer {

/// send_recv: each GPU to the next one.
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
  constexpr std::array<std::string_view, kCollectives.size()> names = {
      "all_reduce", "all_gather", "reduce_scatter", "alltoall", "send_recv"};
  return names[static_cast<std::size_t>(collective)];
}

/// One collective among GPUs.
struct Transfer {
  Collective kind = Collective::all_reduce;
  double bytes = 0;  ///< of a GPU's input; of all_gather: of its result
  double gpus = 2;
  double apart = 1;  ///< distance from one to the next: a machine of 8 GPUs has 8 / apart of them
};

/// Bytes of one GPU's DRAM: a byte sent is read, one received is written, one that a reduction adds
/// to is read too. The GPU's own share is copied.
Traffic dram_traffic(const Transfer& transfer);

/// One way to move a message: a start, steps that wait for each other, and a rate.
struct Protocol {
  double start = 1;  ///< in start costs of the link
  double step = 1;   ///< in step costs of the link
  double bytes = 1;  ///< time of a byte ÷ that at the sustained rate
};

/// Constants of every GPU, as fit_collectives prints them.
struct CollectiveConstants {
  // Calibrated on collectives_nccl.csv (../shared/reference), rows of even position, NCCL 2.27 to
  // 2.29, all GPUs together. Multiples without a unit.
  std::array<Protocol, 3> protocols = {{{1, 1, 24.65}, {1.307, 1.070, 1.922}, {3.720, 1.283, 1}}};
  double own_share = 0.416;  ///< time of a byte that stays on its GPU ÷ that of one on the link
  double alltoall_start = 1.378;  ///< its start ÷ a ring's: one channel to each peer
};

/// A specification's links between GPUs (hw_specs, group "link").
struct LinkCosts {
  double bytes_per_s = 0;  ///< sustained, in one direction
  double start_s = 0;
  double step_s = 0;
};

/// The network between machines: an adapter for each GPU, as InfiniBand or RoCE.
struct Network {
  double bytes_per_s = 50e9;  ///< of a GPU's adapter in one direction: 400 Gb/s
  double step_s = 10e-6;      ///< of a message between two machines
};

/// Throws InputError where the specification lacks a value, naming it.
LinkCosts link_costs(const Gpu& gpu);

/// Expected time in seconds: the fastest protocol's (alpha-beta). A ring makes gpus − 1 steps and
/// moves (gpus − 1)/gpus of the bytes, an all_reduce twice as many; alltoall and send_recv send at
/// once, send_recv all of them. What stays on its own GPU is copied there.
double expected_collective_s(const Transfer& transfer, const LinkCosts& link,
                             const CollectiveConstants& constants = {});

struct CollectiveForecast {
  double limit_s = 0;  ///< bytes that must cross the link, at its datasheet rate
  double expected_s = 0;
  double low_s = 0;
  double high_s = 0;
  double start_s = 0;  ///< of expected_s: start and steps; the rest is bytes
};

/// The forecast with its interval. More GPUs than a machine holds are spread evenly over several:
/// each of a machine's g adapters has a ring and carries 1/g of what a GPU sends, but of alltoall
/// and send_recv all that goes to other machines. Throws InputError for fewer than two GPUs, no
/// bytes, or adjacent GPUs on machines that are not full.
CollectiveForecast predict_collective(const Transfer& transfer, const Gpu& gpu,
                                      const Network& network = {});

}  // namespace roofcast::transformer
