#include "cli/output/answer_words.hpp"

#include <algorithm>

#include "cli/output/units.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"

namespace roofcast::cli {
namespace {

// A resource that is busy for a smaller share of the expected time does not set the pace by itself.
constexpr double kMostOfTheTime = 0.5;

struct Words {
  std::string_view reason;
  std::string_view next;
};

Words words_of(Resource resource) {
  switch (resource) {
    case Resource::tensor:
      return {"the tensor cores set the pace",
              "fewer FLOPs or a narrower type: the tensor cores are at work already"};
    case Resource::vector:
      return {"the SIMT arithmetic pipes set the pace",
              "fewer operations, or tensor cores where it is a matrix product"};
    case Resource::special:
      return {"the special-function unit (exp, tanh, rcp) sets the pace",
              "fewer special functions, or some of them as polynomials on the SIMT pipes"};
    case Resource::conversion:
      return {"conversions between number formats set the pace",
              "fewer conversions: keep values in one format for longer"};
    case Resource::issue:
      return {"the schedulers issue one instruction a clock each and are busy",
              "fewer instructions for each result: wider accesses, more results a thread"};
    case Resource::shared:
      return {"shared memory delivers no more bytes a clock",
              "read shared memory less often: more results a thread, no bank conflicts"};
    case Resource::l1:
      return {"L1 looks up no more lines a clock", "wider accesses to neighbouring elements"};
    case Resource::l2:
      return {"L2 delivers no more bytes",
              "larger tiles, so that more is read again from registers and shared memory"};
    case Resource::dram:
      return {"DRAM delivers no more bytes",
              "fewer bytes: fuse it with its neighbours, or store a narrower type"};
    case Resource::latency:
      return {"blocks wait for dependent accesses and too little else is in flight",
              "more in flight: more warps an SM, or more independent loads a thread"};
    case Resource::block_start:
      return {"the SMs start no more blocks a clock", "fewer blocks, each with more to do"};
    case Resource::instruction_fetch:
      return {"the instruction caches that SMs share deliver no more code",
              "shorter code: a loop in place of unrolled steps"};
    case Resource::launch:
      return {"starting the kernel takes longer than running it",
              "fewer launches: fuse it with its neighbours, or replay them in a CUDA graph"};
  }
  return {};
}

std::string_view reason_on(Resource resource, const Gpu& gpu) {
  const bool matrix_unit = gpu.kind == DeviceKind::tpu && resource == Resource::tensor;
  return matrix_unit ? "the matrix units set the pace" : words_of(resource).reason;
}

/// Datasheet peak (FLOP/s) of the pipe that does the work; without a launch, as for a family, that
/// of the fastest pipe.
std::optional<double> datasheet_peak(const Prediction& prediction, const Gpu& gpu) {
  const DType type = prediction.problem.dtype;
  const auto vector = device_rate(gpu.sm.vector_flop_per_clk[type], gpu, vector_peak_clock_hz(gpu));
  const auto tensor =
      device_rate(gpu.sm.tensor_flop_per_clk[type], gpu, tensor_peak_clock_hz(gpu, type));
  const auto whole = gpu.peak_flops_per_s[type];
  if (!prediction.launch) return std::max({vector, tensor, whole});
  const bool on_tensor_cores = prediction.work.tensor_flops.total() > 0;
  return std::max(on_tensor_cores ? tensor : vector, whole);
}

std::string share_text(double rate, std::optional<double> peak, std::string_view of) {
  if (!peak || *peak <= 0) return "";
  return fmt::format(" ({}{})", percent(rate / *peak), of);
}

std::string bound_text(const Prediction& prediction, const Gpu& gpu) {
  const ByResource& terms = prediction.time->terms;
  const Resource limiting = binding(terms);
  const double share = terms[limiting] / prediction.time->expected_s;
  if (share >= kMostOfTheTime) {
    // A few SMs fill their share of L2 and DRAM while the rest of it idles.
    const bool few = prediction.waves && gpu.sm_count &&
                     2 * prediction.waves->active_sms <= *gpu.sm_count &&
                     (limiting == Resource::l2 || limiting == Resource::dram);
    return fmt::format(
        "bound by {}: {} ({} of the expected time)", name(limiting),
        few ? "the few SMs at work have no more bytes in flight" : reason_on(limiting, gpu),
        percent(share));
  }
  return fmt::format(
      "bound by {}: it takes the most, {} of the expected time; nothing is busy for half of it",
      name(limiting), percent(share));
}

std::string next_step(const Prediction& prediction, bool idle) {
  constexpr double kPoorWaves = 0.8, kRepeats = 1.25;
  const ByResource& terms = prediction.time->terms;
  const Resource limiting = binding(terms);
  const bool launches = limiting == Resource::launch;
  if (idle && !launches) {
    return "more blocks: smaller tiles, sums split among blocks, or several problems a launch";
  }
  const auto& waves = prediction.waves;
  if (waves && waves->full > 0 && waves->efficiency < kPoorWaves) {
    return fmt::format("another tile or shape: the last wave is filled to {}",
                       percent(waves->tail_utilization));
  }
  const Work& work = prediction.work;
  const double moved = work.dram.total_bytes(), least = work.compulsory.total_bytes();
  if (limiting == Resource::dram && moved > kRepeats * least) {
    return fmt::format("fewer repeats: {} cross DRAM, {} would do", si_text(moved, "B"),
                       si_text(least, "B"));
  }
  const bool waits = terms[limiting] < kMostOfTheTime * prediction.time->expected_s && !launches;
  return std::string(words_of(waits ? Resource::latency : limiting).next);
}

}  // namespace

std::string idle_sms_text(const Prediction& prediction, const Gpu& gpu) {
  if (!prediction.waves || !gpu.sm_count || prediction.waves->active_sms >= *gpu.sm_count)
    return "";
  return fmt::format("{} of {} SMs", prediction.waves->active_sms, *gpu.sm_count);
}

std::string rate_text(const Prediction& prediction, const Gpu& gpu) {
  const double seconds = prediction.time->expected_s;
  const double dram = prediction.work.dram.total_bytes() / seconds;
  constexpr std::string_view kOf = " of the datasheet's peak";
  const bool computes = prediction.useful_flops > 0;
  std::string text;
  if (computes) {
    const double rate = prediction.useful_flops / seconds;
    text = si_text(rate, "FLOP/s") + share_text(rate, datasheet_peak(prediction, gpu), kOf) + ", ";
  }
  return text +
         fmt::format("DRAM {}{}, {} of the limit", si_text(dram, "B/s"),
                     share_text(dram, gpu.memory.dram_bandwidth_bytes_per_s, computes ? "" : kOf),
                     percent(prediction.limit.time_s / seconds));
}

std::string io_text(const Prediction& prediction, bool variant) {
  const IoComplexity& io = prediction.io;
  std::string_view levels = "L2 and the SMs";
  if (!variant) levels = io.on_chip_bytes > 0 ? "DRAM and L2" : "DRAM and the chip";
  std::string text = fmt::format("{}: at least {} between {}", io.formula,
                                 si_text(io.lower_bound_bytes, "B"), levels);
  if (io.on_chip_bytes <= 0) return text;
  const std::string size = binary_bytes(io.on_chip_bytes);
  return text + (variant ? fmt::format(", where a block has {} on chip", size)
                         : fmt::format(", where L2 has {}", size));
}

std::string ridge_text(const Prediction& prediction, const Gpu& gpu) {
  const auto peak = datasheet_peak(prediction, gpu);
  const auto bandwidth = gpu.memory.dram_bandwidth_bytes_per_s;
  if (!peak || !bandwidth) return "";
  return figure_text(*peak / *bandwidth) + " FLOP/B: with fewer, DRAM limits";
}

std::string verdict_text(const Answer& answer) {
  const Prediction& prediction = answer.prediction;
  if (!prediction.time) {
    const Resource limiting = binding(prediction.limit.terms);
    return fmt::format("  the limit is {}: {}\n", name(limiting), reason_on(limiting, answer.gpu));
  }
  const std::string idle = idle_sms_text(prediction, answer.gpu);
  std::string text;
  if (!idle.empty()) {
    const bool one = prediction.waves->active_sms == 1;
    text = fmt::format("  {} {}: the others have no block\n", idle, one ? "works" : "work");
  }
  text += fmt::format("  {}\n", bound_text(prediction, answer.gpu));
  return text + fmt::format("  next: {}\n", next_step(prediction, !idle.empty()));
}

}  // namespace roofcast::cli
