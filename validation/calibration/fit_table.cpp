// fit_table TABLE.csv OVERLAY.json > new.json
// A development tool: calibrates a GPU that others measured. Fits the values whose source in the
// overlay is FIT to every second row of a published table (validation/comparison/reference.hpp),
// sets the spreads, and keeps the rest of the overlay.
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/loader.hpp"
#include "hw_specs/text_file.hpp"
#include "validation/calibration/fit_reference.hpp"
#include "validation/comparison/table.hpp"

namespace {

using namespace roofcast;
using validation::ReferenceRow;

void report(const std::vector<ReferenceRow>& rows, const Gpu& gpu) {
  std::map<std::pair<std::string_view, bool>, std::vector<double>> errors;
  for (const ReferenceRow& row : rows) {
    const double ratio = std::exp(validation::log_error(row, gpu));
    errors[{row.group, row.fitted}].push_back(std::abs(ratio - 1));
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
  const std::string overlay_text = specs::read_text(argv[2]);
  nlohmann::ordered_json overlay = specs::parse_ordered(argv[2], overlay_text);
  const std::string name = overlay.is_object() ? overlay.value("gpu", "") : "";
  const specs::Embedded* spec = specs::find_embedded(name);
  if (spec == nullptr) throw InputError("the overlay is of no GPU in hw_specs/");
  specs::Source source = specs::shipped_source(*spec);
  source.overlay_file = argv[2];
  source.overlay_text = overlay_text;
  Gpu gpu = validation::with_launch_cost(specs::load(source), validation::reference_launch_s());
  nlohmann::ordered_json& sustained = overlay.at("sustained");
  std::vector<std::string_view> names;
  for (const auto& [key, entry] : sustained.items()) {
    if (entry.contains("source") && entry.at("source") == "FIT") names.push_back(key);
  }
  const auto rows = validation::reference_rows(argv[1], specs::read_text(argv[1]), name);
  for (const auto& [moved, value] : validation::fit_reference(rows, names, gpu)) {
    sustained[std::string(moved)]["value"] = value;
  }
  const auto put = [&](const char* key, const std::optional<double>& value) {
    if (value) sustained[key] = {{"value", *value}, {"source", "SPREAD"}};
  };
  put("spread_memory", gpu.sustained.spread_memory);
  put("spread_compute", gpu.sustained.spread_compute);
  std::fputs((overlay.dump(2) + "\n").c_str(), stdout);
  report(rows, gpu);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_table: %s\n", error.what());
  return 3;
}
