#include "model/described/kernel.hpp"

#include <algorithm>
#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/types/did_you_mean.hpp"

namespace roofcast::described {
namespace {

constexpr double kMostOfLaunch = 1e24;  // more FLOPs or bytes than any launch has

std::size_t position_of(const std::string& name, std::span<const std::string> parameters) {
  if (name == kElementBytes) return Problem::kMaxParameters;
  const auto found = std::find(parameters.begin(), parameters.end(), name);
  if (found != parameters.end()) return static_cast<std::size_t>(found - parameters.begin());
  std::vector<std::string_view> known(parameters.begin(), parameters.end());
  known.push_back(kElementBytes);
  const std::string_view near = closest(name, known);
  throw InputError(message("no parameter is named '", name, "'",
                           near.empty() ? "" : message(": did you mean '", near, "'?")));
}

constexpr double kSector = as_double(kSectorBytes);
constexpr double kAccessBytes = 16;  // the widest access of a thread

double whole(double value) {
  return std::ceil(value * (1 - 1e-12));
}

/// The description and the tables that point into it: neither copied nor moved.
struct OwnKernel {
  Description description;
  std::vector<Parameter> parameters;
  PlanSource source;
  KernelModel kernel{};
  KernelFamily family{};
};

class Planner {
 public:
  Planner(const Description& description, const Problem& problem) : d_(description), p_(problem) {}

  Plan plan(const Gpu& gpu) {
    set_launch();
    const double blocks = as_double(plan_.launch.blocks());
    plan_.compute = p_.dtype;
    for (const auto& [type, flops] : d_.flops) {
      plan_.compute = type;
      plan_.useful.vector_flops = value(flops, "work/flops");
    }
    for (const auto& [type, flops] : d_.tensor_flops) {
      require_tensor_cores(type, gpu);
      plan_.useful.tensor_flops[type] = value(flops, "work/tensor_flops");
    }
    plan_.useful.special_flops = value(d_.special_functions, "work/special_functions");
    all_.issued = plan_.useful;
    for (const Array& array : d_.arrays) add(array, blocks);
    count_traffic_and_instructions();
    set_blocks(plan_, phases(blocks));
    plan_.notes.estimated_traffic = true;
    plan_.notes.caveat =
        "the kernel is described in a file: its traffic and its instructions are what the file "
        "says";
    const Launch& launch = plan_.launch;
    plan_.on_chip_bytes = as_double(launch.shared_bytes + launch.threads() * launch.registers * 4);
    return std::move(plan_);
  }

 private:
  double value(const Quantity& quantity, std::string_view what) const {
    return quantity.value(p_, what);
  }
  double value(const std::optional<Quantity>& quantity, std::string_view what,
               double absent) const {
    return quantity ? value(*quantity, what) : absent;
  }

  std::int64_t within(const Quantity& quantity, std::string_view what, double least,
                      double most) const {
    const double found = value(quantity, what);
    const auto number = [](double x) { return static_cast<std::int64_t>(whole(x)); };
    require(found >= least && found <= most, what, " is ", found, ": give ", number(least), " to ",
            number(most));
    return number(found);
  }

  Traffic bytes_of(const Array& array) const {
    return {value(array.read_bytes, "read_bytes"), value(array.write_bytes, "write_bytes")};
  }

  void set_launch() {
    Launch& launch = plan_.launch;
    launch.block[0] = within(d_.threads, "launch/threads", 1, 1024);
    launch.registers = within(d_.registers, "launch/registers", 1, 255);
    launch.shared_bytes = within(d_.shared_bytes, "launch/shared_bytes", 0, 1 << 20);
    launch.cluster[0] = within(d_.cluster, "launch/cluster", 1, 16);
    if (d_.grid) {
      for (std::size_t i = 0; i < 3; ++i) {
        const double most = i == 0 ? 2147483647 : as_double(kMostBlocksYZ);
        launch.grid[i] = within((*d_.grid)[i], "launch/grid", 1e-9, most);
      }
      return;
    }
    Traffic bytes;
    for (const Array& array : d_.arrays) bytes += bytes_of(array);
    const double accesses = std::max(bytes.read_bytes, bytes.write_bytes) / kAccessBytes;
    launch.grid[0] =
        static_cast<std::int64_t>(std::max(1.0, whole(accesses / as_double(launch.block[0]))));
  }

  // The traffic that one array adds to the launch, and its pattern in DRAM.
  void add(const Array& array, double blocks) {
    const Traffic bytes = bytes_of(array);
    double wider = 1;    // bytes of sectors moved for each byte requested
    double readers = 1;  // blocks that read each byte
    ArrayUse use{static_cast<ArrayId>(plan_.arrays.size()), bytes, {}};
    use.activation = array.activation;
    if (array.access == Access::broadcast) {
      readers = blocks;
    } else if (array.access != Access::contiguous) {
      const double element = std::max(1.0, value(array.element_bytes, "element_bytes"));
      double stride = kSector;
      if (array.access == Access::strided) {
        stride = value(array.stride_bytes, "stride_bytes");
        use.pattern.read_density = std::min(1.0, std::max(kSector, element) / stride);
      }
      wider = std::max(1.0, std::min(stride, kSector) / element);
    }
    use.footprint = wider * bytes;
    if (array.access == Access::gather) {
      const double table = value(array.table_bytes, "table_bytes");
      use.compulsory.read_bytes = std::min(bytes.read_bytes, table);
      use.random = RandomReads{use.footprint.read_bytes / kSector, table};
      use.footprint.read_bytes = 0;
    }
    plan_.arrays.push_back(use);
    const Traffic issued{readers * bytes.read_bytes, bytes.write_bytes};
    all_.issued.requested += issued;
    all_.issued.l1 += wider * issued;
  }

  void count_traffic_and_instructions() {
    constexpr double kWavefrontBytes = 128;  // 32 banks of 4 B
    Work& issued = all_.issued;
    issued.l2 = {value(d_.l2_read_bytes, "l2_read_bytes", issued.l1.read_bytes),
                 value(d_.l2_write_bytes, "l2_write_bytes", issued.l1.write_bytes)};
    issued.shared_bytes = value(d_.shared_traffic_bytes, "work/shared_traffic_bytes");
    // Default: one instruction for each FMA (2 FLOP), special function and access of 16 B.
    const double instructions =
        issued.vector_flops / 2 + issued.special_flops +
        (issued.requested.total_bytes() + issued.shared_bytes) / kAccessBytes;
    all_.warp_instructions = value(d_.instructions, "work/instructions", instructions) / kWarpLanes;
    all_.wavefronts.shared = issued.shared_bytes / kWavefrontBytes;
    all_.wavefronts.l1 = (value(d_.l1_read_bytes, "work/l1_read_bytes", issued.l1.read_bytes) +
                          issued.l1.write_bytes) /
                         kWavefrontBytes;
  }

  std::vector<Phase> phases(double blocks) const {
    double shares = 0;
    std::vector<Phase> phases;
    for (const DescribedPhase& one : d_.phases) {
      Phase phase;
      phase.repeats = std::max(1.0, whole(value(one.repeats, "phases/repeats")));
      phase.ahead = std::max(0.0, value(one.stages, "phases/stages") - 1);
      const double of_launch = value(one.share, "phases/share");
      const double share = of_launch / phase.repeats / blocks;
      shares += of_launch;
      Step& step = phase.step;
      step.issued = share * all_.issued;
      step.warp_instructions = share * all_.warp_instructions;
      step.wavefronts.shared = share * all_.wavefronts.shared;
      step.wavefronts.l1 = step.wavefronts.l1_lookups = share * all_.wavefronts.l1;
      step.waits.global =
          value(one.loads, "phases/loads", all_.issued.requested.read_bytes > 0 ? 1 : 0);
      step.waits.shared = value(one.exchanges, "phases/exchanges");
      step.waits.arithmetic = value(one.operations, "phases/operations");
      step.waits.barriers = value(one.barriers, "phases/barriers");
      phases.push_back(phase);
    }
    require(std::abs(shares - 1) <= 1e-6, "the shares of the phases add up to ", shares,
            ": make them add up to 1");
    return phases;
  }

  const Description& d_;
  const Problem& p_;
  Plan plan_;
  Step all_;  ///< the work of the whole launch as one step
};

}  // namespace

Quantity::Quantity(std::string_view text, std::span<const std::string> parameters)
    : expression_(expression::parse(text)) {
  require(expression_.statements.front().name.empty() && !has_reduction(expression_),
          "a value of a kernel file is one expression of numbers and parameters: no '=', and no "
          "sum, mean, amax or amin");
  for (const std::string& name : expression_.inputs) {
    positions_.push_back(position_of(name, parameters));
  }
}

double Quantity::value(const Problem& problem, std::string_view what) const {
  // With numbers in place of its inputs, an expression folds to one number.
  expression::Expression numbers = expression_;
  for (expression::Node& node : numbers.nodes) {
    if (node.op != expression::Op::input) continue;
    const std::size_t at = positions_[node.a];
    const bool is_type = at == Problem::kMaxParameters;
    node = {expression::Op::number, 0, 0,
            is_type ? size_bytes(problem.dtype) : as_double(problem[at])};
  }
  const double result = fold(numbers).nodes.front().value;
  if (result >= 0 && result <= kMostOfLaunch) return result;
  throw InputError(message(what, " = ", print(expression_),
                           " is negative, beyond 1e24 or no number for these parameters: correct "
                           "the expression, or the parameters"));
}

KernelRef make_kernel(Description description) {
  require(description.parameters.size() <= Problem::kMaxParameters, "a kernel takes at most ",
          Problem::kMaxParameters, " parameters: write the others as numbers");
  require(description.flops.size() <= 1,
          "the SIMT FLOPs of a kernel file are of one type: give one member of flops");
  if (description.phases.empty()) description.phases.emplace_back();
  const auto own = std::make_shared<OwnKernel>();
  own->description = std::move(description);
  const Description& d = own->description;
  for (const DescribedParameter& one : d.parameters) {
    own->parameters.push_back(
        {one.name, one.meaning, one.minimum, one.maximum, one.fallback, one.is_setting});
  }
  own->source = [&d](const Problem& problem, const Gpu& gpu) {
    return launch_of(Planner(d, problem).plan(gpu));
  };
  own->kernel = {d.name, d.summary, own->parameters, d.dtypes, nullptr};
  own->kernel.source = &own->source;
  own->family = {d.name, d.summary, own->parameters, d.dtypes, {&own->kernel, 1}};
  return {&own->family, &own->kernel, own};
}

}  // namespace roofcast::described
