#include "hw_specs/rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "hw_specs/loader.hpp"
#include "hw_specs/source_rules.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::specs {
namespace {

std::optional<double> quantity(const Json& specification, std::string_view pointer) {
  const Json* value = find_value(specification, pointer);
  return value != nullptr ? std::optional(value->get<double>()) : std::nullopt;
}

std::string text(double number) {
  return shown(Json(number));
}

bool has_members(const Json& specification, std::string_view pointer) {
  const Json* group = find(specification, pointer);
  return group != nullptr && !group->empty();
}

void check_identity(const Json& specification, const std::string& file) {
  if (!is_device_name(specification["name"].get_ref<const std::string&>())) {
    throw SpecError(file, "/name",
                    "small letters, digits and hyphens, found " + shown(specification["name"]),
                    "write it as \"h100-sxm5\"");
  }
  if (!specification.contains("compute_capability")) return;
  const Json& capability = specification["compute_capability"];
  const std::string& version = capability.get_ref<const std::string&>();
  const auto digits =
      std::count_if(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::size_t point = version.find('.');
  if (static_cast<std::size_t>(digits) + 1 != version.size() || point == std::string::npos ||
      point == 0 || point + 1 >= version.size()) {
    throw SpecError(file, "/compute_capability", "MAJOR.MINOR, found " + shown(capability),
                    "write it as \"9.0\"");
  }
}

void check_kind(const Json& specification, const std::string& file) {
  if (specification["kind"] != "tpu") return;
  for (const char* group : {"chip", "sm", "features", "occupancy", "compute_capability"}) {
    if (specification.contains(group)) {
      throw SpecError(file, child("", group), "nothing here for a device of kind \"tpu\", found it",
                      "remove it: peaks of the whole device stand in /peak_flops_per_s");
    }
  }
}

struct Pair {
  std::string_view first;
  std::string_view second;
};

void check_needed(const Json& specification, const std::string& file) {
  constexpr std::array needs = {Pair{"/sm/tensor_flop_per_clk", "/clocks/tensor_boost_hz"},
                                Pair{"/sm/vector_flop_per_clk", "/clocks/vector_boost_hz"},
                                Pair{"/sm", "/chip/sm_count"}};
  for (const Pair& need : needs) {
    if (has_members(specification, need.first) && !find_value(specification, need.second)) {
      throw SpecError(
          file, std::string(need.second),
          "this value, which the rates in " + std::string(need.first) + " need, found none",
          "add it, or remove " + std::string(need.first));
    }
  }
}

void check_order(const Json& specification, const std::string& file) {
  constexpr std::array at_most = {
      Pair{"/occupancy/shared_bytes_per_block", "/occupancy/shared_bytes_per_sm"},
      Pair{"/occupancy/shared_bytes_per_sm", "/memory/l1_shared_bytes"},
      Pair{"/occupancy/registers_per_thread", "/occupancy/registers_per_sm"},
      Pair{"/occupancy/register_allocation_unit", "/occupancy/registers_per_sm"},
      Pair{"/occupancy/warp_allocation_unit", "/occupancy/registers_per_sm"},
      Pair{"/clocks/vector_boost_hz", "/clocks/max_hz"},
      Pair{"/clocks/tensor_boost_hz", "/clocks/max_hz"},
      Pair{"/clocks/tensor_fp64_boost_hz", "/clocks/max_hz"},
      Pair{"/features/cluster_blocks_portable", "/features/cluster_blocks_max"},
      Pair{"/memory/l2_sector_bytes", "/memory/l2_line_bytes"},
      Pair{"/memory/l2_line_bytes", "/memory/l2_bytes"},
      Pair{"/memory/l2_bytes", "/memory/dram_bytes"}};
  for (const Pair& pair : at_most) {
    const auto small = quantity(specification, pair.first);
    const auto large = quantity(specification, pair.second);
    if (small && large && *small > *large) {
      throw SpecError(
          file, std::string(pair.first),
          "at most " + std::string(pair.second) + " (" + text(*large) + "), found " + text(*small),
          "correct one of the two");
    }
  }
}

void check_block_fits(const Json& specification, const std::string& file) {
  const auto threads = quantity(specification, "/occupancy/threads_per_block");
  const auto warps = quantity(specification, "/occupancy/warps_per_sm");
  const auto lanes = quantity(specification, "/occupancy/warp_size");
  if (threads && warps && lanes && *threads > *warps * *lanes) {
    throw SpecError(
        file, "/occupancy/threads_per_block",
        "at most warps_per_sm × warp_size (" + text(*warps * *lanes) + "), found " + text(*threads),
        "correct one of the three");
  }
}

/// The larger of the device's vector and tensor peaks by the rates of one SM (FLOP/s).
double peak_from_rates(const Json& specification, std::string_view type) {
  const auto peak = [&](std::string_view rates, std::string_view clock) {
    const auto rate = quantity(specification, child(rates, type));
    const auto hz = quantity(specification, clock);
    const auto count = quantity(specification, "/chip/sm_count");
    return rate && hz && count ? *rate * *hz * *count : 0.0;
  };
  return std::max(peak("/sm/vector_flop_per_clk", "/clocks/vector_boost_hz"),
                  peak("/sm/tensor_flop_per_clk", "/clocks/tensor_boost_hz"));
}

void check_peaks(const Json& specification, const std::string& file) {
  constexpr double tolerance = 0.05;  // datasheets round
  for (const DType type : kAllDTypes) {
    const std::string pointer = child("/peak_flops_per_s", name(type));
    const auto peak = quantity(specification, pointer);
    const double from_rates = peak_from_rates(specification, name(type));
    if (peak && from_rates > 0 && std::abs(*peak / from_rates - 1) > tolerance) {
      throw SpecError(
          file, pointer,
          "within 5% of SMs × FLOP/clk × clock (" + text(from_rates) + "), found " + text(*peak),
          "remove it: the rates of one SM say it already");
    }
  }
}

}  // namespace

bool is_device_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

void check_rules(const Json& specification, Stage stage, const std::string& file) {
  check_identity(specification, file);
  check_sources(specification, false, stage, file);
  check_kind(specification, file);
  check_needed(specification, file);
  check_order(specification, file);
  check_block_fits(specification, file);
  check_peaks(specification, file);
}

void check_overlay_rules(const Json& overlay, std::string_view gpu, Stage stage,
                         const std::string& file) {
  if (overlay["gpu"].get_ref<const std::string&>() != gpu && stage == Stage::file) {
    throw SpecError(file, "/gpu", "\"" + printable(gpu) + "\", found " + shown(overlay["gpu"]),
                    "give the calibration of this device, or none (--datasheet)");
  }
  const Json* date = find(overlay, "/provenance/date");
  const bool dated = date != nullptr && starts_with_date(date->get_ref<const std::string&>());
  if (!dated && stage == Stage::file) {
    throw SpecError(file, "/provenance/date",
                    "the day of the run, found " + (date != nullptr ? shown(*date) : "none"),
                    "write it as 2026-01-31");
  }
  check_sources(overlay, true, stage, file);
}

}  // namespace roofcast::specs
