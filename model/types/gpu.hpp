#pragma once
#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/by_key.hpp"
#include "model/types/dtype.hpp"

namespace roofcast {

/// A rate by element type, absent where the device has no unit for the type.
using RateByType = ByKey<DType, std::optional<double>, kAllDTypes.size()>;

/// CUDA's compute capability, which names a generation of instruction sets.
struct ComputeCapability {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ComputeCapability&) const = default;
};

inline std::string text(ComputeCapability capability) {
  return std::to_string(capability.major) + '.' + std::to_string(capability.minor);
}

/// Instructions that only some GPUs have; the names are those of PTX.
enum class Instruction : unsigned char {
  cp_async,   ///< asynchronous copies to shared memory, by each thread
  bulk_copy,  ///< cp.async.bulk: copies of whole tiles (TMA)
  mma_sync,   ///< matrix products of one warp
  wgmma,      ///< matrix products of four warps, operands in shared memory
  tcgen05     ///< matrix products with tensor memory
};

constexpr std::string_view name(Instruction instruction) {
  return word_of(instruction, {"cp_async", "bulk_copy", "mma_sync", "wgmma", "tcgen05"});
}

/// Limits on a launch, and the instructions that it may use.
struct Features {
  /// The most blocks of a grid in x, y and z (count).
  std::array<std::optional<std::int64_t>, 3> grid_max;
  /// The most blocks of a cluster, without and with opting in; absent: no clusters.
  std::optional<std::int64_t> cluster_blocks_portable;
  std::optional<std::int64_t> cluster_blocks_max;
  std::optional<std::int64_t> cluster_blocks_per_sm;  ///< most resident blocks, with clusters
  /// SMs of each GPC. A cluster runs in one GPC, each of its blocks on an SM of its own. Empty:
  /// clusters find room on all SMs.
  std::vector<std::int64_t> gpc_sms;
  std::array<bool, 5> instructions{};  ///< by Instruction; has() reads it

  bool has(Instruction one) const { return instructions[static_cast<std::size_t>(one)]; }
  bool has_clusters() const { return cluster_blocks_max.has_value(); }
};

/// The allocation rules of one multiprocessor (CUDA's cuda_occupancy.h). Counts and bytes.
struct OccupancyRules {
  std::int64_t warp_size = 32;
  std::int64_t warps_per_sm = 0;
  std::int64_t blocks_per_sm = 0;
  std::int64_t threads_per_block = 0;
  std::int64_t registers_per_sm = 0;
  std::int64_t registers_per_thread = 0;
  std::int64_t register_allocation_unit = 1;  ///< a warp's registers are a multiple of it
  std::int64_t warp_allocation_unit = 1;      ///< sub-partitions of an SM: each has registers
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t shared_bytes_per_block = 0;  ///< most a block may ask for (opt-in)
  std::int64_t shared_reserved_bytes_per_block = 0;
  std::int64_t shared_allocation_unit_bytes = 1;

  /// The most registers per thread, a multiple of 8, at which `blocks` blocks fit an SM.
  std::int64_t registers_for(std::int64_t blocks, std::int64_t threads) const {
    return std::min(registers_per_thread, registers_per_sm / (blocks * threads) / 8 * 8);
  }
};

/// Clocks in Hz. Datasheets quote peaks at the boost clocks; limits use the maximum.
struct Clocks {
  std::optional<double> vector_boost_hz;
  std::optional<double> tensor_boost_hz;
  std::optional<double> tensor_fp64_boost_hz;  ///< where fp64 is quoted at another clock
  std::optional<double> max_hz;
};

/// Work one multiprocessor can do in one clock.
struct SmRates {
  RateByType vector_flop_per_clk;
  RateByType tensor_flop_per_clk;                  ///< fp32 accumulation (fp64: fp64, int8: int32)
  RateByType tensor_fp16_accumulate_flop_per_clk;  ///< fp16 accumulation, where that is faster
  std::optional<double> mma_sync_share;            ///< mma.sync's share of that rate; absent: 1
  std::optional<double> special_per_clk;           ///< results of exp2, rcp, sin … (MUFU)
  std::optional<double> conversion_per_clk;  ///< results of conversions between number formats
  std::optional<double> integer_per_clk;     ///< add, logic, shift
  std::optional<double> warp_issue_per_clk;  ///< warp instructions issued, all schedulers together
  std::optional<double> shared_bytes_per_clk;
  std::optional<double> l1_bytes_per_clk;
  std::optional<double> l2_bytes_per_clk;  ///< the port of one SM to L2
};

struct MemorySystem {
  std::optional<double> dram_bandwidth_bytes_per_s;
  std::optional<double> dram_bytes;
  std::optional<double> dram_access_bytes;  ///< the smallest DRAM read
  std::optional<double> l2_bytes;
  std::int64_t l2_partitions = 1;          ///< each holds its own copy of what its SMs read
  std::optional<double> l2_bytes_per_clk;  ///< reads of all SMs, per SM clock
  std::optional<double> l1_shared_bytes;   ///< the pool that L1 and shared memory divide, per SM
  /// Units of transfer. The defaults are those of every CUDA GPU since Volta.
  std::int64_t l1_line_bytes = 128;
  std::int64_t l2_line_bytes = 128;
  std::int64_t l2_sector_bytes = 32;  ///< of L1 too
  std::int64_t shared_banks = 32;
  std::int64_t shared_bank_bytes = 4;
};

/// Unloaded latency from issue to use, in SM cycles; of L2 the mean of near and far slices.
struct Latencies {
  std::optional<double> fma_cycles;
  std::optional<double> shared_cycles;
  std::optional<double> l1_cycles;
  std::optional<double> l2_cycles;
  std::optional<double> dram_cycles;
};

/// Measured rates and costs: the calibration overlay of this GPU. Without a measurement a value is
/// absent: the laws then take the datasheet's, and the prediction says so.
struct Sustained {
  std::string source;      ///< run and date of this GPU's calibration; empty: none
  bool published = false;  ///< `source` is published measurements of others
  std::string relative;    ///< the GPU whose values fill the gaps; empty: none
  std::optional<double> dram_read_bytes_per_s;
  std::optional<double> dram_write_bytes_per_s;
  std::optional<double> l2_bandwidth_bytes_per_s;  ///< reads, all SMs together
  std::optional<double> sm_clock_hz;               ///< under memory-bound and SIMT load
  std::optional<double> tensor_clock_hz;           ///< under any use of tensor cores
  std::optional<double> stream_launch_s;           ///< null kernel between two events in a stream
  std::optional<double> graph_launch_s;            ///< per null kernel of many in a graph
  std::optional<double> launch_gap_s;              ///< per null kernel of many queued in a stream
  std::optional<double> first_access_s;            ///< added wait for first data: cold TLBs
  std::optional<double> warp_launch_cycles;        ///< between the starts of two warps on one SM
  std::optional<double> barrier_cycles;
  std::optional<double> l1_tags_per_clk;  ///< distinct lines of a warp request looked up per clock
  Latencies latency;
  std::optional<double> dram_scattered_bytes_per_s;  ///< reads of 64 B pieces at random places
  std::optional<double> host_submit_s;               ///< the host's time to enqueue one launch
  std::optional<double> block_launch_cycles;         ///< between the starts of two blocks on one SM
  std::optional<double> special_per_clk;             ///< results per clock of one SM, as in SmRates
  std::optional<double> conversion_per_clk;
  RateByType vector_flop_per_clk;
  std::optional<double> vector_flop_energy_j;  ///< per fp32 FLOP on the SIMT pipes
  std::optional<double> tensor_flop_energy_j;  ///< per 16-bit FLOP on the tensor cores
  std::optional<double> spread_launch_bound;   ///< relative half-width of the interval, by regime
  std::optional<double> spread_memory;
  std::optional<double> spread_compute;
};

/// The origin of most of the sustained values.
enum class CalibrationKind : unsigned char { none, relative, published, measured };

constexpr std::string_view name(CalibrationKind kind) {
  return word_of(kind, {"none", "relative", "published", "measured"});
}

inline CalibrationKind calibration_kind(const Sustained& sustained) {
  if (!sustained.source.empty()) {
    return sustained.published ? CalibrationKind::published : CalibrationKind::measured;
  }
  return sustained.relative.empty() ? CalibrationKind::none : CalibrationKind::relative;
}

enum class DeviceKind : unsigned char { gpu, tpu };

/// A device as its specification file describes it: datasheet values, then `sustained`.
struct Gpu {
  std::string name;   ///< as the file in hw_specs/
  std::string title;  ///< as the vendor calls it
  std::int64_t year = 0;
  DeviceKind kind = DeviceKind::gpu;
  std::optional<ComputeCapability> compute_capability;
  std::string architecture;  ///< "hopper"; empty where the file names none
  std::string die;           ///< "GH100"; empty where the file names none

  std::optional<std::int64_t> sm_count;
  Clocks clocks;
  SmRates sm;
  /// Peaks of the whole device where no per-SM rate is published (TPUs, boards of two dies).
  RateByType peak_flops_per_s;
  MemorySystem memory;
  Latencies latency;
  Features features;
  std::optional<OccupancyRules> occupancy;  ///< absent: warps and waves are not defined
  std::optional<double> power_w;
  std::optional<double> link_bytes_per_s;           ///< NVLink or PCIe, both directions together
  bool link_over_pcie = false;                      ///< over PCIe: the machine decides the topology
  bool link_in_switch_reduction = false;            ///< the switch can reduce (NVLink SHARP)
  std::optional<double> collective_start_s;         ///< fixed start-up time of a collective
  std::optional<double> collective_step_s;          ///< latency of one ring step
  std::optional<double> collective_link_share;      ///< sustained share of a link direction
  std::optional<std::int64_t> collective_channels;  ///< SMs that a collective's kernel occupies
  Sustained sustained;

  /// Resident blocks of the device at `blocks_per_sm`; one SM where sm_count is unknown.
  std::int64_t slots(std::int64_t blocks_per_sm) const {
    return blocks_per_sm * sm_count.value_or(1);
  }
};

}  // namespace roofcast
