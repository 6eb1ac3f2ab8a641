#include <algorithm>
#include <cmath>

#include "model/counting/integers.hpp"
#include "model/described/kernel.hpp"
#include "model/kernels/common/plan_parts.hpp"

// The one place where a described kernel becomes a Plan.
namespace roofcast::described {
namespace {

constexpr double kSectorBytes = 32;
constexpr double kAccessBytes = 16;  // the widest access of a thread
constexpr double kWarp = 32;
constexpr std::string_view kCaveat =
    "the kernel is described in a file: its traffic and its instructions are what the file says";

std::int64_t whole(double value) {
  return static_cast<std::int64_t>(std::ceil(value * (1 - 1e-12)));
}

std::int64_t within(const Quantity& quantity, const Problem& problem, std::string_view what,
                    double least, double most) {
  const double value = quantity.value(problem, what);
  if (value >= least && value <= most) return whole(value);
  throw InputError(std::string(what) + " is " + std::to_string(value) + ": give " +
                   std::to_string(whole(least)) + " to " + std::to_string(whole(most)));
}

// Bytes of whole sectors that one byte asked for takes along.
double sectors_over_bytes(const Array& array, const Problem& problem) {
  if (array.access == Access::contiguous || array.access == Access::broadcast) return 1;
  const double element = std::max(1.0, array.element_bytes.value(problem, "element_bytes"));
  if (array.access == Access::gather) return std::max(1.0, kSectorBytes / element);
  const double stride = array.stride_bytes.value(problem, "stride_bytes");
  return std::max(1.0, std::min(stride, kSectorBytes) / element);
}

// What one array adds to the launch's traffic, and how DRAM sees it.
struct Counted {
  ArrayUse use;
  Traffic requested, sectors;
};

Counted counted(const Array& array, ArrayId id, const Problem& problem, double blocks) {
  const Traffic bytes{array.read_bytes.value(problem, "read_bytes"),
                      array.write_bytes.value(problem, "write_bytes")};
  const double wider = sectors_over_bytes(array, problem);
  Counted result{{id, bytes, wider * bytes}, bytes, wider * bytes};
  result.use.activation = array.activation;
  if (array.access == Access::broadcast) {
    result.requested.read_bytes *= blocks;
    result.sectors.read_bytes *= blocks;
  } else if (array.access == Access::strided) {
    const double stride = array.stride_bytes.value(problem, "stride_bytes");
    const double element = array.element_bytes.value(problem, "element_bytes");
    result.use.pattern.read_density = std::min(1.0, std::max(kSectorBytes, element) / stride);
  } else if (array.access == Access::gather) {
    const double table = array.table_bytes.value(problem, "table_bytes");
    result.use.compulsory.read_bytes = std::min(bytes.read_bytes, table);
    result.use.footprint.read_bytes = 0;
    result.use.random = RandomReads{result.sectors.read_bytes / kSectorBytes, table};
  }
  return result;
}

Launch launch_of(const Description& d, const Problem& problem) {
  Launch launch;
  launch.block[0] = within(d.threads, problem, "launch/threads", 1, 1024);
  launch.registers = within(d.registers, problem, "launch/registers", 1, 255);
  launch.shared_bytes = within(d.shared_bytes, problem, "launch/shared_bytes", 0, 1 << 20);
  launch.cluster[0] = within(d.cluster, problem, "launch/cluster", 1, 16);
  if (d.grid) {
    for (std::size_t i = 0; i < 3; ++i) {
      const double most = i == 0 ? 2147483647 : static_cast<double>(kMostBlocksYZ);
      launch.grid[i] = within((*d.grid)[i], problem, "launch/grid", 1e-9, most);
    }
    return launch;
  }
  Traffic bytes;
  for (const Array& array : d.arrays) {
    bytes += {array.read_bytes.value(problem, "read_bytes"),
              array.write_bytes.value(problem, "write_bytes")};
  }
  const double larger = std::max(bytes.read_bytes, bytes.write_bytes);
  launch.grid[0] = std::max<std::int64_t>(
      1, whole(larger / (kAccessBytes * static_cast<double>(launch.block[0]))));
  return launch;
}

// Arithmetic of the launch; its vector part in `compute`.
Work arithmetic(const Description& d, const Problem& problem, const Gpu& gpu, DType& compute) {
  Work work;
  for (const auto& [type, flops] : d.flops) {
    compute = type;
    work.vector_flops = flops.value(problem, "work/flops");
  }
  for (const auto& [type, flops] : d.tensor_flops) {
    require_tensor_cores(type, gpu);
    work.tensor_flops[type] = flops.value(problem, "work/tensor_flops");
  }
  work.special_flops = d.special_functions.value(problem, "work/special_functions");
  return work;
}

// Of a warp: a fused multiply-add each 2 FLOP, and an access each 16 B a thread, unless the file
// says.
double warp_instructions(const Description& d, const Problem& problem, const Work& issued) {
  if (d.instructions) return d.instructions->value(problem, "work/instructions") / kWarp;
  const double threads = issued.vector_flops / 2 + issued.special_flops +
                         (issued.requested.total_bytes() + issued.shared_bytes) / kAccessBytes;
  return threads / kWarp;
}

Phase phase_of(const Part& part, const Problem& problem, const Step& all, double blocks) {
  const double repeats =
      std::max(1.0, std::ceil(part.repeats.value(problem, "phases/repeats") * (1 - 1e-12)));
  const double share = part.share.value(problem, "phases/share") / repeats / blocks;
  Phase phase;
  phase.step.issued = share * all.issued;
  phase.step.warp_instructions = share * all.warp_instructions;
  phase.step.wavefronts.shared = share * all.wavefronts.shared;
  phase.step.wavefronts.l1 = share * all.wavefronts.l1;
  phase.step.wavefronts.l1_lookups = phase.step.wavefronts.l1;
  const bool reads = all.issued.requested.read_bytes > 0;
  phase.step.waits.global = part.loads ? part.loads->value(problem, "phases/loads") : reads ? 1 : 0;
  phase.step.waits.shared = part.exchanges.value(problem, "phases/exchanges");
  phase.step.waits.arithmetic = part.operations.value(problem, "phases/operations");
  phase.step.waits.barriers = part.barriers.value(problem, "phases/barriers");
  phase.repeats = repeats;
  phase.ahead = std::max(0.0, part.stages.value(problem, "phases/stages") - 1);
  return phase;
}

std::vector<Phase> phases_of(const Description& d, const Problem& problem, const Step& all,
                             double blocks) {
  double shares = 0;
  std::vector<Phase> phases;
  for (const Part& part : d.parts) {
    shares += part.share.value(problem, "phases/share");
    phases.push_back(phase_of(part, problem, all, blocks));
  }
  if (std::abs(shares - 1) <= 1e-6) return phases;
  throw InputError("the shares of the phases add up to " + std::to_string(shares) +
                   ": make them add up to 1");
}

}  // namespace

Plan plan(const Description& d, const Problem& problem, const Gpu& gpu) {
  Plan result;
  result.launch = launch_of(d, problem);
  const double blocks = as_double(result.launch.blocks());
  result.compute = problem.dtype;
  result.useful = arithmetic(d, problem, gpu, result.compute);

  Step all;
  all.issued = result.useful;
  for (const Array& array : d.arrays) {
    const Counted one = counted(array, static_cast<ArrayId>(result.arrays.size()), problem, blocks);
    all.issued.requested += one.requested;
    all.issued.l1 += one.sectors;
    result.arrays.push_back(one.use);
  }
  all.issued.l2 = all.issued.l1;
  if (d.l2_read_bytes) all.issued.l2.read_bytes = d.l2_read_bytes->value(problem, "l2_read_bytes");
  if (d.l2_write_bytes) {
    all.issued.l2.write_bytes = d.l2_write_bytes->value(problem, "l2_write_bytes");
  }
  all.issued.shared_bytes = d.shared_traffic_bytes.value(problem, "work/shared_traffic_bytes");
  all.warp_instructions = warp_instructions(d, problem, all.issued);
  constexpr double kWavefrontBytes = 128;  // 32 banks of 4 B
  all.wavefronts.shared = all.issued.shared_bytes / kWavefrontBytes;
  const double l1_reads = d.l1_read_bytes ? d.l1_read_bytes->value(problem, "work/l1_read_bytes")
                                          : all.issued.l1.read_bytes;
  all.wavefronts.l1 = (l1_reads + all.issued.l1.write_bytes) / kWavefrontBytes;
  set_blocks(result, phases_of(d, problem, all, blocks));
  result.notes.estimated_traffic = true;
  result.on_chip_bytes =
      as_double(result.launch.shared_bytes + result.launch.threads() * result.launch.registers * 4);
  result.notes.caveat = kCaveat;
  return result;
}

}  // namespace roofcast::described
