// fit_products TABLE.csv OVERLAY.json [OVERLAY.json]...
// A development tool: what a library's tiled products keep up. Fits the values that the overlays
// mark with the source GEMM, in common for all of them (values of a generation the same, shares
// scaled by the datasheets), to the rows of even position of each GPU in a table of published
// measurements (bf16, A warm in L2, five copies of B in turn, graph replay), writes them into the
// files and reports the error on the other rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/loader.hpp"
#include "hw_specs/text_file.hpp"
#include "hw_specs/what_if.hpp"
#include "model/predict.hpp"
#include "validation/calibration/bounded_fit.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/table.hpp"

namespace {

using namespace roofcast;
using validation::Case;

constexpr std::string_view kSource = "GEMM";

struct Constant {
  std::string_view name;
  std::optional<double> Sustained::*member;
  double least;  ///< of the start, as a factor
  double most;
  bool is_share = false;  ///< of a peak: at most 1
};
constexpr std::array kConstants = {
    Constant{"tile_math_efficiency", &Sustained::tile_math_efficiency, 0.5, 1.3, true},
    Constant{"tile_vector_efficiency", &Sustained::tile_vector_efficiency, 0.5, 1.3, true},
    Constant{"tile_split_cycles", &Sustained::tile_split_cycles, 0.2, 5},
    Constant{"tile_l2_bytes_per_s", &Sustained::tile_l2_bytes_per_s, 0.2, 5},
    Constant{"tile_dram_bytes_per_s", &Sustained::tile_dram_bytes_per_s, 0.5, 1.25},
    Constant{"tile_dram_sm_share", &Sustained::tile_dram_sm_share, 0.2, 1.25, true},
    Constant{"tile_step_cycles", &Sustained::tile_step_cycles, 0.2, 5},
    Constant{"tile_fill_cycles", &Sustained::tile_fill_cycles, 0.2, 5},
    Constant{"tile_outputs_per_clk", &Sustained::tile_outputs_per_clk, 0.2, 5},
    Constant{"l2_returning_bytes", &Sustained::l2_returning_bytes, 0.5, 1.5},
    Constant{"power_free_share", &Sustained::power_free_share, 0.5, 1.4, true},
    Constant{"power_slowdown", &Sustained::power_slowdown, 0.1, 10}};

/// A row that the fit looks at.
struct Target {
  double measured_s;
  ExpectedTime expected_s;
};

struct Device {
  std::string file;
  nlohmann::ordered_json overlay;
  Gpu gpu;
  std::vector<Case> fitted;
  std::vector<Case> held_out;
  std::vector<Target> targets;  ///< some of `fitted`
};

Device load(const std::string& file, const std::string& table_file) {
  Device device{file, specs::parse_ordered(file, specs::read_text(file)), {}, {}, {}, {}};
  const std::string name = device.overlay.value("gpu", "");
  const specs::Embedded* spec = specs::find_embedded(name);
  if (spec == nullptr) throw InputError(file + " is of no GPU in hw_specs/");
  device.gpu = specs::load({.file = name + ".json",
                            .text = std::string(spec->text),
                            .overlay_file = file,
                            .overlay_text = device.overlay.dump(),
                            .overrides = {}});
  device.gpu =
      validation::with_launch_cost(device.gpu, device.gpu.sustained.graph_launch_s.value_or(0));
  validation::TableQuery query;
  query.kernel = "gemm.library";
  query.gpu = name;
  query.where = {{"dtype", "bf16"}};
  query.set = {{"weight_copies", "5"}};
  query.cache = CacheState::warm;
  bool fitted = true;
  for (const auto& row :
       validation::parse_table(table_file, specs::read_text(table_file), query).rows) {
    (fitted ? device.fitted : device.held_out).push_back(row.measured);
    fitted = !fitted;
  }
  constexpr std::size_t kTargets = 450;  // are enough for ten constants
  const KernelRef kernel = find_kernel(query.kernel);
  const std::size_t stride = std::max<std::size_t>(1, device.fitted.size() / kTargets);
  for (std::size_t i = 0; i < device.fitted.size(); i += stride) {
    const Case& row = device.fitted[i];
    device.targets.push_back(
        {row.timing.median_s(), ExpectedTime(kernel, row.problem, device.gpu, {row.cache, {}})});
  }
  return device;
}

// The first device's constants, scaled by the datasheets.
Gpu with_constants_of(const Gpu& first, const Gpu& gpu) {
  Gpu scaled = gpu;
  scaled.sustained = first.sustained;
  specs::carry_over(first, scaled);
  Gpu result = gpu;
  for (const Constant& one : kConstants) {
    result.sustained.*one.member = scaled.sustained.*one.member;
  }
  // H100 and H200 fit best with the same share of their SMs, whatever their memory.
  result.sustained.tile_dram_sm_share = first.sustained.tile_dram_sm_share;
  return result;
}

double mean_log_error(std::vector<Target>& targets, const Gpu& gpu) {
  double sum = 0;
  for (Target& one : targets) sum += std::abs(std::log(one.expected_s(gpu) / one.measured_s));
  return sum / static_cast<double>(targets.size());
}

void report(const char* what, const std::vector<Case>& cases, const Gpu& gpu) {
  std::vector<validation::Row> rows;
  for (const Case& one : cases) rows.push_back(validation::compare_case(one, gpu));
  const validation::Comparison comparison = validation::summarize(std::move(rows));
  std::vector<validation::Summary> summaries = {comparison.overall};
  summaries.insert(summaries.end(), comparison.by_regime.begin(), comparison.by_regime.end());
  for (const validation::Summary& some : summaries) {
    std::fprintf(
        stderr, "%-16s %-8s %-12s %5zu rows: mean error %.2f%%, median %.2f%%, inside %.1f%%\n",
        gpu.name.c_str(), what, some.group.c_str(), some.cases, 100 * some.mean_absolute_error,
        100 * some.median_absolute_error, 100 * some.coverage);
  }
}

double rounded(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.4g", value);
  return std::strtod(text, nullptr);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("usage: fit_products TABLE.csv OVERLAY.json [OVERLAY.json]...\n", stderr);
    return 2;
  }
  std::vector<Device> devices;
  for (int i = 2; i < argc; ++i) devices.push_back(load(argv[i], argv[1]));
  Gpu first = devices.front().gpu;
  std::vector<validation::Moving> moving;
  for (const Constant& one : kConstants) {
    const auto& sustained = devices.front().overlay.at("sustained");
    const auto found = sustained.find(one.name);
    if (found == sustained.end() || found->at("source") != kSource) continue;
    const double start = found->at("value").get<double>();
    const double most = one.is_share ? std::min(1.0, one.most * start) : one.most * start;
    moving.push_back({one.member, start, one.least * start, most});
  }
  validation::fit_bounded(moving, first, [&](const Gpu& tried) {
    double sum = 0;
    for (Device& device : devices) {
      sum += mean_log_error(device.targets, with_constants_of(tried, device.gpu));
    }
    return sum;
  });
  for (const validation::Moving& one : moving) {
    auto& value = first.sustained.*one.member;
    value = rounded(*value);
  }
  for (Device& device : devices) {
    const Gpu gpu = with_constants_of(first, device.gpu);
    auto& sustained = device.overlay.at("sustained");
    for (const Constant& one : kConstants) {
      const auto found = sustained.find(one.name);
      if (found == sustained.end() || found->at("source") != kSource) continue;
      (*found)["value"] = rounded(*(gpu.sustained.*one.member));
    }
    std::ofstream(device.file) << device.overlay.dump(2) << '\n';
    report("fitted", device.fitted, gpu);
    report("held out", device.held_out, gpu);
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_products: %s\n", error.what());
  return 3;
}
