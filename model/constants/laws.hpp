#pragma once
// The register of the laws' constants, equal for all GPUs; docs/constants.md is made from it.
#include <array>

#include "model/constants/constant.hpp"
#include "model/counting/coalescing.hpp"

namespace roofcast::law {

inline constexpr std::string_view kFit =
    "cases of even index of default, random1, random2, random7, random10, tensor, attention, "
    "products18 and products19 of both GPUs in validation/measured: coordinate search of the "
    "family-balanced mean |log error| of time";
inline constexpr std::string_view kMined =
    "streams, chains and the microbenchmarks in_flight and bandwidth in validation/measured";

inline constexpr Constant kSmVariability =
    fitted("sm_variability", 2, "",
           "variability (ν) of service of an SM's pipes and block starts; 0: customers never meet",
           kFit, "2026-11-23");
inline constexpr Constant kMemoryQueueBytes =
    fitted("memory_queue_bytes", 3000, "B",
           "bytes of an SM in flight at which half of them queue at a full L2 or DRAM", kFit,
           "2026-11-26");
inline constexpr Constant kOverlappingWarps =
    fitted("overlapping_warps", 6, "warps",
           "instruction streams from which an SM's pipes begin to overlap: n of them expose "
           "overlapping_warps ÷ n of all pipes but the fullest",
           kFit, "2026-11-23");
inline constexpr Constant kTileLoadCycles =
    fitted("tile_load_cycles", 1100, "clk",
           "least latency of a tile load, from its first copy to the arrival of its last", kFit,
           "2026-11-23");
inline constexpr Constant kPipelineStepCycles =
    fitted("pipeline_step_cycles", 180, "clk",
           "handover of a pipelined tile: from its arrival to its first use, and from its last use "
           "to the next copy",
           "even rows of gemm_tensor.csv (ai-dynamo/aiconfigurator), products51 and products71",
           "2026-11-25");
inline constexpr Constant kPipelineStartCycles =
    fitted("pipeline_start_cycles", 1600, "clk",
           "start of a launch whose blocks copy tiles ahead for the tensor cores, beyond its first "
           "copies: barriers, tensor maps, registers handed over; none where tcgen05 multiplies",
           "even rows of gemm_tensor.csv (ai-dynamo/aiconfigurator), products51 and products71",
           "2026-11-25");
inline constexpr Constant kOutOfStepReadDensity =
    fitted("out_of_step_read_density", 0.42, "",
           "read density of blocks out of step: share of the surrounding DRAM that they read "
           "together, in panels of A and B and rows that each block reads in sequence",
           "gemm_tensor.csv (ai-dynamo/aiconfigurator), bf16, rows of even position of three GPUs: "
           "least mean error of time among 0.3 to 0.56",
           "2026-11-25");

inline constexpr std::string_view kFetches =
    "attention-flash2-fetch-2026-11-30 and attention-flash2-code-2026-11-30 in validation/measured";
inline constexpr Constant kCodeBytesPerClk = measured(
    "code_bytes_per_clk", 3.7, "B/clk",
    "an SM's share of the instruction caches of the GPCs: about half a line a clock for each GPC",
    kFetches, "2026-11-30");
inline constexpr Constant kUnsharedFetchBits =
    measured("unshared_fetch_bits", 3, "bit",
             "entropy of the classes of blocks from which the blocks of an SM share no fetch of "
             "code: 1 class half a line a line run, 4 classes 0.78 to 0.87, 8 classes 0.99 to 1.04",
             kFetches, "2026-11-30");

inline constexpr Constant kDensityOfLines =
    measured("density_of_lines", roofcast::kDensityOfLines, "",
             "read density of tiles that read one line of each of many rows: DRAM delivers random "
             "lines at 0.935 of its streaming rate",
             "the microbenchmark scattered in validation/measured, pieces of 128 B", "2026-11-23");
inline constexpr Constant kSlowdownOfADecade = fitted(
    "slowdown_of_a_decade", 0.21, "",
    "share of the slowdown by a launch's own power that each tenfold of its time beyond 1 us adds",
    "set so that the full slowdown is reached after 4.8 decades, at 0.06 s; the energy of a FLOP "
    "of each GPU is fitted with it",
    "2026-11-27");
inline constexpr Constant kHeatingSeconds =
    measured("heating_seconds", 0.1, "s",
             "time of work without a pause after which half of the long run's slowdown is reached",
             "long-runs-2026-11-27 in validation/measured, the table with four columns of time: "
             "products of 8192x8192x8192 and 4096x16384x2048 to 100 ms, to 300 ms and after 0.7 s",
             "2026-11-27");
inline constexpr Constant kDramByteEnergy =
    measured("dram_byte_energy", 123e-12, "J",
             "energy of the board for a byte between DRAM and an SM, beyond idle",
             "power-2026-11-27 in validation/measured: copies of 256 MB at 4.15 TB/s and 638 W, "
             "less the 127 W of one busy warp",
             "2026-11-27");
inline constexpr Constant kLeastVoltagePower = fitted(
    "least_voltage_power", 2, "",
    "power at the full clock, relative to the limit, above which the voltage is at its least and "
    "the clock falls in proportion: 1.6 still follows the square root in power-2026-11-27",
    "products in fp32 of two cards of 70 and 72 W, every second row of the linear layers of "
    "sitar-lab/NeuSight's test set",
    "2026-11-27");
inline constexpr Constant kClocksPerCopyRequest =
    measured("clocks_per_copy_request", 0.81, "clk",
             "time of an SM's copy engine (TMA) for a request to L2, of 64 bytes or of a sector",
             "the run `sectors` in validation/measured: tiles of 64x64 to 128x128 on one SM, whose "
             "rows begin at multiples of 16 to 128 bytes",
             "2026-11-26");
inline constexpr Constant kSmStoreBytesPerClk =
    measured("sm_store_bytes_per_clk", 31.8, "B/clk",
             "store rate of one SM alone to L2; beside others it has its share of L2's write rate",
             "memory-study runs of both GPUs, l2_mix: writes by 1 to 16 SMs", "2026-11-23");
inline constexpr Constant kL2ResidentShare = measured(
    "l2_resident_share", 0.97, "",
    "share of the bytes of an L2 partition that pass before read data begins to be evicted",
    "memory-study runs of both GPUs, l2_capacity: panels that every SM reads are all found again "
    "to 26 of 50 MB and lost from 30 MB on; two GPUs of one partition read products' weights again "
    "to 0.95 and 1.0 of it (ai-dynamo/aiconfigurator, gemm_perf)",
    "2026-11-25");
inline constexpr Constant kL2GradualEviction = measured(
    "l2_gradual_eviction", 0.12, "",
    "reuse distance beyond L2's resident capacity, relative to it, at which every read misses",
    "as l2_resident_share", "2026-11-25");
inline constexpr Constant kL1GradualEviction =
    fitted("l1_gradual_eviction", 0.5, "",
           "reuse distance beyond L1's capacity, relative to it, at which every read misses",
           "default, random1, random2, random7 and random10 of both GPUs in validation/measured: "
           "mean error of softmax.three_pass 7.5%, with L2's gradual eviction 7.7%",
           "2026-11-26");
inline constexpr Constant kL2DirtyShare = measured(
    "l2_dirty_share", 0.9, "", "share of L2's bytes that hold recent traffic when a kernel ends",
    "memory-study runs of both GPUs, first_touch: of writes into a clean L2 25.0 of 50 MB and 29.6 "
    "of 60 MB stay",
    "2026-11-23");
inline constexpr Constant kL2WriteShare =
    measured("l2_write_share", 0.52, "", "write rate of L2 for whole lines ÷ its read bandwidth",
             kMined, "2026-11-23");
inline constexpr Constant kL2FillShare =
    measured("l2_fill_share", 0.75, "",
             "time of L2 to take in a byte from DRAM ÷ time to deliver a byte to an SM",
             "the run fills and default streams in validation/measured, cold, 4 to 24 MB written, "
             "all of which L2 keeps: time per byte beyond the rates of L2's hits and writes is "
             "0.61 to 0.70 of a read's on one GPU (fills), 0.79 and 0.84 on the other",
             "2026-11-29");
inline constexpr Constant kL2LoneSectorShare =
    measured("l2_lone_sector_share", 0.5, "",
             "further time of L2 for a random sector, read without its neighbour ÷ time for a "
             "sector of a whole line",
             "access.gather over 20 us, uniform, tables of 1 to 30 MB, in the runs of "
             "validation/measured: median 0.44 on one GPU, 0.61 on the other",
             "2026-11-29");
inline constexpr Constant kDramTurnaround = measured(
    "dram_turnaround", 0.09, "",
    "bus turnaround of DRAM ÷ the time to read the lesser of the bytes read and the bytes written",
    kMined, "2026-11-23");

inline constexpr Constant kTensorEnergyShare = measured(
    "tensor_energy_share", 0.125, "",
    "energy of a 16-bit FLOP on the tensor cores ÷ energy of an fp32 FLOP on the SIMT pipes",
    "power-2026-11-27 in validation/measured: products at 768 TFLOP/s for 839 W beyond idle, by "
    "their share of the time; lgamma at 33.4 T instructions of lanes a second for 588 W",
    "2026-11-27");

inline constexpr Constant kL1MergeBytes =
    measured("l1_merge_bytes", 15e3, "B",
             "bytes written between two partial stores of a sector at which L1 merges half of them",
             "counters of the random runs in validation/measured: of parts 4 KB apart 4% reach L2 "
             "one by one, of 8 KB 13%, of 16 KB 44 to 76%",
             "2026-11-22");

inline constexpr Constant kPdlLaunchShare =
    measured("pdl_launch_share", 0.7, "",
             "launch cost with programmatic dependent launch ÷ a graph's for the next kernel",
             "launches-2026-11-23.csv in validation/measured: null kernels 0.545 and 0.778 us",
             "2026-11-23");

inline constexpr std::array kAll = {
    kSmVariability,        kMemoryQueueBytes,    kOverlappingWarps,     kTileLoadCycles,
    kPipelineStepCycles,   kPipelineStartCycles, kOutOfStepReadDensity, kDensityOfLines,
    kSlowdownOfADecade,    kHeatingSeconds,      kDramByteEnergy,       kLeastVoltagePower,
    kClocksPerCopyRequest, kSmStoreBytesPerClk,  kL2ResidentShare,      kL2GradualEviction,
    kL1GradualEviction,    kL2DirtyShare,        kL2WriteShare,         kL2FillShare,
    kL2LoneSectorShare,    kDramTurnaround,      kPdlLaunchShare,       kTensorEnergyShare,
    kL1MergeBytes,         kCodeBytesPerClk,     kUnsharedFetchBits};

}  // namespace roofcast::law
