// fit_collectives ../shared/reference/collectives_nccl.csv
// Built with -DROOFCAST_STUDY=ON. Fits the constants of collectives (model/constants/steps.hpp) and
// of the links (hw_specs, group "link") to the rows of even position, and prints the errors of both
// halves.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hw_specs/text_file.hpp"
#include "model/constants/constant.hpp"
#include "model/transformer/collective.hpp"
#include "validation/calibration/named_rows.hpp"

namespace {

using roofcast::transformer::Collective;
using roofcast::transformer::LinkCosts;

struct Row {
  std::size_t machine;  ///< 0: A100, 1: H100 and H200, which share a link
  std::string gpu;
  Collective collective;
  double gpus;
  double bytes;
  double time_s;
  bool even;  ///< its position in the table
};

constexpr double kOneWay[] = {300e9, 450e9};  // B/s, half of link_bytes_per_s

std::vector<Row> read_rows(const char* path) {
  std::vector<Row> rows;
  const std::map<std::string, double> sizes = {{"half", 2}, {"int8", 1}, {"float", 4}};
  for (const auto& row : roofcast::validation::named_rows(path, roofcast::specs::read_text(path))) {
    for (const Collective one : roofcast::transformer::kCollectives) {
      if (name(one) != row["operation"]) continue;
      rows.push_back({row["gpu"].starts_with("a100") ? 0U : 1U, row["gpu"], one, row.real("gpus"),
                      row.real("elements") * sizes.at(row["dtype"]), row.real("time_us") * 1e-6,
                      row.even()});
    }
  }
  return rows;
}

/// The constants that are fitted, and where the search starts: of links, then of the register.
constexpr std::pair<const char*, double> kStart[] = {
    {"A100 collective_start_s", 8e-6},    {"Hopper collective_start_s", 4.3e-6},
    {"A100 collective_step_s", 0.97e-6},  {"Hopper collective_step_s", 0.85e-6},
    {"A100 collective_link_share", 0.71}, {"Hopper collective_link_share", 0.79},
    {"collective_ll_bytes", 19},          {"collective_ll128_start", 1.05},
    {"collective_ll128_step", 1.45},      {"collective_ll128_bytes", 1.9},
    {"collective_simple_start", 3},       {"collective_simple_step", 1.5},
    {"collective_own_share", 0.35},       {"collective_alltoall_start", 1.35}};

/// Logarithms of the constants, so that each stays above 0.
using Point = std::vector<double>;

/// Puts the point's values in place of the register's.
void study(const Point& point) {
  constexpr std::size_t kOfLinks = 6;
  for (std::size_t i = kOfLinks; i < point.size(); ++i) {
    roofcast::studied_values()[kStart[i].first] = std::exp(point[i]);
  }
}

LinkCosts link_of(const Point& point, std::size_t machine) {
  return {kOneWay[machine] * std::exp(point[4 + machine]), std::exp(point[machine]),
          std::exp(point[2 + machine])};
}

double error(const Point& point, const Row& row) {
  const auto time =
      collective_time({row.collective, row.bytes, row.gpus}, link_of(point, row.machine));
  return time.total_s() / row.time_s - 1;
}

double loss(const Point& point, const std::vector<Row>& rows) {
  study(point);
  double sum = 0;
  for (const Row& row : rows) {
    if (row.even) sum += std::abs(std::log1p(error(point, row)));
  }
  return sum;
}

/// Coordinate search: a coordinate's step grows if it lowers the loss and shrinks otherwise.
Point fitted(Point point, const std::vector<Row>& rows) {
  std::vector<double> step(point.size(), 0.2);
  double best = loss(point, rows);
  for (int round = 0; round < 400; ++round) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      bool better = false;
      for (const double sign : {1.0, -1.0}) {
        Point next = point;
        next[i] += sign * step[i];
        const double value = loss(next, rows);
        if (value >= best) continue;
        best = value;
        point = next;
        better = true;
        break;
      }
      step[i] = std::max(1e-4, step[i] * (better ? 1.5 : 0.6));
    }
  }
  return point;
}

void report(const char* what, const Point& point, const std::vector<Row>& rows,
            const std::function<bool(const Row&)>& keep) {
  study(point);
  std::vector<double> errors;
  for (const Row& row : rows) {
    if (keep(row)) errors.push_back(std::abs(error(point, row)));
  }
  if (errors.empty()) return;
  double sum = 0;
  for (const double one : errors) sum += one;
  std::sort(errors.begin(), errors.end());
  std::printf("%-28s %4zu rows  mean |error| %5.1f%%  nine tenths within %5.1f%%\n", what,
              errors.size(), 100 * sum / static_cast<double>(errors.size()),
              100 * errors[errors.size() * 9 / 10]);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fit_collectives collectives_nccl.csv\n");
    return 2;
  }
  const std::vector<Row> rows = read_rows(argv[1]);
  Point point;
  for (const auto& [name, start] : kStart) point.push_back(std::log(start));
  point = fitted(point, rows);
  for (std::size_t i = 0; i < point.size(); ++i) {
    std::printf("%-30s %.4g\n", kStart[i].first, std::exp(point[i]));
  }
  const auto is_large = [](const Row& row) { return row.bytes > 1e6; };
  report("even, to 1 MB", point, rows, [&](const Row& row) { return row.even && !is_large(row); });
  report("even, over 1 MB", point, rows, [&](const Row& row) { return row.even && is_large(row); });
  // The odd rows of a group, and those over 1 MB.
  const auto report_odd = [&](const std::string& prefix,
                              const std::function<bool(const Row&)>& is) {
    report((prefix + "odd" + (prefix.empty() ? ", all" : "")).c_str(), point, rows,
           [&](const Row& row) { return !row.even && is(row); });
    report((prefix + "odd, over 1 MB").c_str(), point, rows,
           [&](const Row& row) { return !row.even && is(row) && is_large(row); });
  };
  report_odd("", [](const Row&) { return true; });
  for (const std::string gpu : {"a100-sxm4-80gb", "h100-sxm5", "h200-sxm"}) {
    report_odd(gpu + ", ", [&](const Row& row) { return row.gpu == gpu; });
  }
  for (const Collective one : roofcast::transformer::kCollectives) {
    report_odd(std::string(name(one)) + ", ",
               [&](const Row& row) { return row.collective == one; });
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "fit_collectives: %s\n", error.what());
  return 3;
}
