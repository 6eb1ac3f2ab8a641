// fit_table TABLE.csv OVERLAY.json > new.json
// A development tool: the calibration of a GPU that others measured. Fits what its overlay marks
// with the source FIT to every second row of a published table (validation/reference.hpp) and
// keeps the rest of the overlay.
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "model/predict.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/reference.hpp"

namespace {

using namespace roofcast;
using Json = nlohmann::ordered_json;

/// A value that the fit may choose; start and bounds in units.
struct Choice {
  std::string_view name;
  std::optional<double> Sustained::*member;
  double unit;
  double start;
  double least;
  double most;
};

// Neither DRAM nor L2 does or holds more than the datasheet says.
std::vector<Choice> choices(const Gpu& gpu) {
  const double dram = gpu.memory.dram_bandwidth_bytes_per_s.value();
  const double l2 = gpu.memory.l2_bytes.value();
  return {{"dram_read_bytes_per_s", &Sustained::dram_read_bytes_per_s, dram, 0.85, 0.5, 1},
          {"dram_write_bytes_per_s", &Sustained::dram_write_bytes_per_s, dram, 0.85, 0.5, 1},
          {"l2_resident_bytes", &Sustained::l2_resident_bytes, l2, 0.65, 0.3, 1},
          {"l2_loaded_cycles", &Sustained::l2_loaded_cycles, 1, 800, 100, 5000},
          {"memory_overlap_exponent", &Sustained::memory_overlap_exponent, 1, 3, 1.2, 20},
          {"stream_launch_s", &Sustained::stream_launch_s, 1e-6, 20, 1, 100}};
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InputError(path + ": cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Search {
  std::vector<validation::ReferenceRow> rows;  // those to fit to
  std::map<std::string_view, double> weights;  // each group counts the same
  std::vector<Choice> moving;
  Gpu gpu;

  void set(const double* logs) {
    for (std::size_t i = 0; i < moving.size(); ++i) {
      gpu.sustained.*moving[i].member = moving[i].unit * std::exp(logs[i]);
    }
  }
  double error(const validation::ReferenceRow& row) const {
    const KernelRef kernel = find_kernel(row.measured.kernel);
    const Prediction answer = predict(kernel, row.measured.problem, gpu, {row.measured.cache, {}});
    return std::log(answer.time->expected_s / row.measured.timing.median_s());
  }
  double cost() const {
    double sum = 0;
    for (const auto& row : rows) sum += weights.at(row.group) * std::abs(error(row));
    return sum;
  }
  static double cost_at(unsigned /*count*/, const double* logs, double* /*gradient*/, void* self) {
    auto& search = *static_cast<Search*>(self);
    search.set(logs);
    return search.cost();
  }
};

void minimize(Search& search) {
  std::vector<double> logs;
  std::vector<double> least;
  std::vector<double> most;
  for (const Choice& choice : search.moving) {
    least.push_back(std::log(choice.least));
    most.push_back(std::log(choice.most));
    logs.push_back(std::log(choice.start));
  }
  nlopt_opt optimizer = nlopt_create(NLOPT_LN_SBPLX, static_cast<unsigned>(logs.size()));
  nlopt_set_lower_bounds(optimizer, least.data());
  nlopt_set_upper_bounds(optimizer, most.data());
  nlopt_set_min_objective(optimizer, &Search::cost_at, &search);
  nlopt_set_initial_step1(optimizer, 0.3);
  nlopt_set_xtol_abs1(optimizer, 1e-5);
  nlopt_set_maxeval(optimizer, 20000);
  double found = 0;
  const nlopt_result result = nlopt_optimize(optimizer, logs.data(), &found);
  nlopt_destroy(optimizer);
  if (result < 0) throw InputError("the fit did not converge: start from other values");
  search.set(logs.data());
}

// Half-widths of the interval: of each group of the rows fitted to the 95th percentile of the
// error, and of these the largest.
void set_spreads(Search& search) {
  std::map<std::pair<bool, std::string_view>, validation::Timing> errors;  // memory-bound or not
  for (const auto& row : search.rows) {
    const validation::Row compared = validation::compare_case(row.measured, search.gpu);
    const bool memory = compared.bound == Resource::dram || compared.bound == Resource::l2;
    errors[{memory, row.group}].samples_s.push_back(std::exp(std::abs(search.error(row))) - 1);
  }
  search.gpu.sustained.spread_memory.reset();
  search.gpu.sustained.spread_compute.reset();
  for (const auto& [key, found] : errors) {
    auto& spread =
        key.first ? search.gpu.sustained.spread_memory : search.gpu.sustained.spread_compute;
    spread = std::max(spread.value_or(0), found.percentile_s(0.95));
  }
}

// Four digits: more would be noise.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return std::strtod(text, nullptr);
}

void report(const Search& search, const std::vector<validation::ReferenceRow>& rows) {
  std::map<std::pair<std::string_view, bool>, std::vector<double>> errors;
  for (const auto& row : rows) {
    errors[{row.group, row.fitted}].push_back(std::abs(std::exp(search.error(row)) - 1));
  }
  for (const auto& [key, found] : errors) {
    double sum = 0;
    for (const double one : found) sum += one;
    std::fprintf(stderr, "%-12s %-9s %3zu rows, mean error %.1f%%\n",
                 std::string(key.first).c_str(), key.second ? "fitted" : "held out", found.size(),
                 100 * sum / static_cast<double>(found.size()));
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: fit_table TABLE.csv OVERLAY.json > new.json\n", stderr);
    return 2;
  }
  const std::string overlay_text = read_file(argv[2]);
  Json overlay = Json::parse(overlay_text);
  const specs::Embedded* spec = specs::find_embedded(overlay.at("gpu").get<std::string>());
  if (spec == nullptr) throw InputError("the overlay is of no GPU in hw_specs/");
  Search search;
  search.gpu = specs::load({.file = std::string(spec->name) + ".json",
                            .text = std::string(spec->text),
                            .overlay_file = argv[2],
                            .overlay_text = overlay_text,
                            .overrides = {}});
  Json& sustained = overlay.at("sustained");
  for (const Choice& choice : choices(search.gpu)) {
    const auto entry = sustained.find(std::string(choice.name));
    if (entry != sustained.end() && entry->at("source") == "FIT") search.moving.push_back(choice);
  }
  const auto rows = validation::reference_rows(argv[1], read_file(argv[1]), spec->name);
  for (const auto& row : rows) {
    if (!row.fitted) continue;
    search.rows.push_back(row);
    search.weights[row.group] += 1;
  }
  for (auto& [group, weight] : search.weights) {
    weight = 1 / (weight * static_cast<double>(search.weights.size()));
  }
  minimize(search);
  for (const Choice& choice : search.moving) {
    auto& value = search.gpu.sustained.*choice.member;
    value = rounded(*value);
    sustained[std::string(choice.name)]["value"] = *value;
  }
  set_spreads(search);
  const auto put = [&](const char* name, const std::optional<double>& value) {
    if (value) sustained[name] = {{"value", rounded(*value)}, {"source", "SPREAD"}};
  };
  put("spread_memory", search.gpu.sustained.spread_memory);
  put("spread_compute", search.gpu.sustained.spread_compute);
  std::fputs((overlay.dump(2) + "\n").c_str(), stdout);
  report(search, rows);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_table: %s\n", error.what());
  return 3;
}
