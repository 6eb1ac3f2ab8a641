#include "cli/output/formulas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/output/units.hpp"
#include "model/counting/totals.hpp"

namespace roofcast::cli {
namespace {

/// A value of the device and its pointer in the specification.
struct Constant {
  std::optional<double> value;
  std::string pointer;
};

/// The sustained value if the device has one, else that of the datasheet.
Constant either(Constant sustained, Constant datasheet) {
  return sustained.value ? std::move(sustained) : std::move(datasheet);
}

class Maker {
 public:
  Maker(const Answer& answer, std::span<const specs::SourcedValue> values)
      : prediction_(answer.prediction),
        gpu_(answer.gpu),
        values_(values),
        launches_(answer.kernel.kernel->plan_of(answer.prediction.problem, answer.gpu)) {}

  std::optional<Formula> of(Resource resource) const {
    const double alone_s = prediction_.time->terms[resource];
    auto found = counted(resource);
    if (!found || found->amount <= 0 || alone_s <= 0) return std::nullopt;
    found->resource = resource;
    found->alone_s = alone_s;
    return found;
  }

 private:
  std::optional<Formula> counted(Resource resource) const {
    const Work& work = prediction_.work;
    switch (resource) {
      case Resource::tensor:
        return tensor();
      case Resource::vector:
        return of_sms("FLOP", work.vector_flops, vector_rate());
      case Resource::special:
        return of_sms("FLOP", work.special_flops,
                      either({gpu_.sustained.special_per_clk, "/sustained/special_per_clk"},
                             {gpu_.sm.special_per_clk, "/sm/special_per_clk"}));
      case Resource::conversion:
        return of_sms("", work.conversions,
                      either({gpu_.sustained.conversion_per_clk, "/sustained/conversion_per_clk"},
                             {gpu_.sm.conversion_per_clk, "/sm/conversion_per_clk"}));
      case Resource::issue:
        return of_sms("instr", instructions(),
                      {gpu_.sm.warp_issue_per_clk, "/sm/warp_issue_per_clk"});
      case Resource::shared:
        return of_sms("B", work.shared_bytes,
                      {gpu_.sm.shared_bytes_per_clk, "/sm/shared_bytes_per_clk"});
      case Resource::l1:
        return of_sms("B", work.l1.total_bytes(),
                      {gpu_.sm.l1_bytes_per_clk, "/sm/l1_bytes_per_clk"});
      case Resource::l2:
        return of_device(
            "B", work.l2.total_bytes() - coalesced_bytes(),
            {gpu_.sustained.l2_bandwidth_bytes_per_s, "/sustained/l2_bandwidth_bytes_per_s"});
      case Resource::dram:
        return of_device(
            "B", work.dram.total_bytes(),
            either({gpu_.sustained.dram_read_bytes_per_s, "/sustained/dram_read_bytes_per_s"},
                   {gpu_.memory.dram_bandwidth_bytes_per_s, "/memory/dram_bandwidth_bytes_per_s"}));
      case Resource::latency:
      case Resource::block_start:
      case Resource::instruction_fetch:
      case Resource::launch:
        return std::nullopt;
    }
    return std::nullopt;
  }

  double instructions() const {
    double sum = 0;
    for (const Launched& one : launches_) sum += one.repeats * issued_instructions(one.plan);
    return sum;
  }

  /// Bytes that L2 reads once for several blocks.
  double coalesced_bytes() const {
    double sum = 0;
    for (const Launched& one : launches_) sum += one.repeats * one.plan.coalesced.bytes;
    return std::min(sum, prediction_.work.l2.read_bytes);
  }

  Constant vector_rate() const {
    const DType type = launches_.front().plan.compute;
    const std::string leaf = fmt::format("vector_flop_per_clk/{}", name(type));
    return either({gpu_.sustained.vector_flop_per_clk[type], "/sustained/" + leaf},
                  {gpu_.sm.vector_flop_per_clk[type], "/sm/" + leaf});
  }

  // Products of several types have no common rate: it stays unknown.
  std::optional<Formula> tensor() const {
    const FlopsByType& flops = prediction_.work.tensor_flops;
    const auto* only = std::find_if(kAllDTypes.begin(), kAllDTypes.end(),
                                    [&](DType type) { return flops[type] > 0; });
    const bool one = only != kAllDTypes.end() && flops[*only] >= flops.total();
    const Constant rate = one ? Constant{gpu_.sm.tensor_flop_per_clk[*only],
                                         fmt::format("/sm/tensor_flop_per_clk/{}", name(*only))}
                              : Constant{};
    return of_sms("FLOP", flops.total(), rate);
  }

  Formula of_sms(std::string_view unit, double amount, const Constant& per_clk) const {
    Formula made{.unit = unit, .amount = amount, .made_of = {}};
    const double clock_hz = prediction_.time->sm_clock_hz;
    if (!per_clk.value || !gpu_.sm_count || clock_hz <= 0) return made;
    made.full_rate = static_cast<double>(*gpu_.sm_count) * *per_clk.value * clock_hz;
    made.made_of = fmt::format("{} SMs × {}/clk × {}", *gpu_.sm_count, figure_text(*per_clk.value),
                               si_text(clock_hz, "Hz"));
    made.source = source_of(per_clk.pointer);
    return made;
  }

  Formula of_device(std::string_view unit, double amount, const Constant& rate) const {
    Formula made{.unit = unit, .amount = amount, .made_of = {}};
    if (!rate.value) return made;
    made.full_rate = *rate.value;
    made.made_of = rate.pointer.substr(1);
    made.source = source_of(rate.pointer);
    return made;
  }

  std::string source_of(std::string_view pointer) const {
    for (const specs::SourcedValue& value : values_) {
      if (value.pointer == pointer) return value.source;
    }
    return "";
  }

  const Prediction& prediction_;
  const Gpu& gpu_;
  std::span<const specs::SourcedValue> values_;
  LaunchSequence launches_;
};

}  // namespace

std::vector<Formula> formulas(const Answer& answer, std::span<const specs::SourcedValue> values) {
  const Maker maker(answer, values);
  std::vector<Formula> found;
  for (std::size_t i = 0; i < kResources; ++i) {
    if (auto one = maker.of(static_cast<Resource>(i))) found.push_back(std::move(*one));
  }
  return found;
}

}  // namespace roofcast::cli
