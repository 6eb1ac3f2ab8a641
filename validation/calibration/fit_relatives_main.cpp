// fit_relatives TABLE.csv RUN.json… > hw_specs/relatives.json
// A development tool: by how much the interval of a forecast from a relative's constants has to
// widen, found by leaving each measured GPU out in turn. The runs give GPUs of the same die, the
// table (validation/comparison/reference.hpp) GPUs of other dies. Prints the table's launch cost on
// stderr.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "hw_specs/text_file.hpp"
#include "validation/calibration/fit_relatives.hpp"
#include "validation/runs/run_file.hpp"

namespace {

using namespace roofcast;
using validation::LeftOut;

// GPUs that NeuSight measured and this project describes under the same name and memory.
constexpr std::array kTableGpus = {"a100-pcie-40gb", "a100-pcie-80gb", "v100-pcie-32gb"};

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

double two_decimals_up(double value) {
  return std::ceil(value * 100) / 100;
}

nlohmann::ordered_json entry(const std::vector<LeftOut>& found, bool same_die,
                             const std::set<std::string>& runs) {
  nlohmann::ordered_json out = {{"value", 1.0}, {"date", today()}, {"runs", runs}};
  double widest = 1;
  for (const LeftOut& one : found) {
    // The value for another die is at least that for the same die.
    if (one.same_die || !same_die) widest = std::max(widest, one.widening);
    if (one.same_die != same_die) continue;
    char summary[160];
    std::snprintf(summary, sizeof summary, "%s from %s: %zu cases, mean error %.1f%%, x %.2f",
                  one.gpu.c_str(), one.relative.c_str(), one.cases, 100 * one.mean_absolute_error,
                  one.widening);
    out["left_out"].push_back(summary);
  }
  out["value"] = two_decimals_up(widest);
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("usage: fit_relatives TABLE.csv RUN.json... > hw_specs/relatives.json\n", stderr);
    return 2;
  }
  std::vector<LeftOut> found;
  std::map<std::string, std::vector<validation::Row>> rows;
  std::set<std::string> runs;
  for (int i = 2; i < argc; ++i) {
    const auto run = validation::read_run(argv[i]);
    if (!run) throw InputError(std::string(argv[i]) + ": no such run file");
    try {
      const Gpu gpu = validation::left_out(run->device.gpu);
      for (auto& row : validation::compare(*run, gpu).rows)
        rows[gpu.name].push_back(std::move(row));
      runs.insert(argv[i]);
    } catch (const InputError& error) {
      std::fprintf(stderr, "%s is left aside: %s\n", argv[i], error.what());
    }
  }
  for (const auto& [name, measured] : rows) {
    found.push_back(validation::judge(validation::left_out(name), measured));
  }
  const std::string table = specs::read_text(argv[1]);
  std::vector<validation::TableOfGpu> tables;
  for (const char* name : kTableGpus) {
    tables.push_back(
        {validation::left_out(name), validation::reference_rows(argv[1], table, name)});
    const auto& [gpu, of_gpu] = tables.back();
    found.push_back(validation::judge(gpu, validation::held_out_rows(of_gpu, gpu)));
  }
  std::fprintf(stderr, "launch cost of the table: %.3g s\n",
               validation::fit_table_launch_s(tables));
  nlohmann::ordered_json out;
  out["interval_widening"] = {
      {"same_die", entry(found, true, runs)},
      {"other_die", entry(found, false,
                          {"rows_and_elementwise_fp32.csv: sitar-lab/NeuSight test set (MIT), "
                           "every second row"})}};
  std::fputs((out.dump(2) + "\n").c_str(), stdout);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_relatives: %s\n", error.what());
  return 3;
}
