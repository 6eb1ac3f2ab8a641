// fit_collectives ../shared/reference/collectives_nccl.csv
// Fits the constants of collectives (model/transformer/collective.hpp) and of the links (hw_specs,
// group "link") to the rows of even position, and prints the errors of both halves.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "model/transformer/collective.hpp"

namespace {

using roofcast::transformer::Collective;
using roofcast::transformer::CollectiveConstants;
using roofcast::transformer::LinkCosts;

struct Row {
  std::size_t machine;  ///< 0: A100, 1: H100 and H200, which share a link
  std::string gpu;
  Collective collective;
  double gpus;
  double bytes;
  double time_s;
};

constexpr double kOneWay[] = {300e9, 450e9};  // B/s, half of link_bytes_per_s

std::vector<Row> read_rows(const char* path) {
  std::ifstream in(path);
  std::vector<Row> rows;
  std::string line;
  std::getline(in, line);
  const std::map<std::string, double> sizes = {{"half", 2}, {"int8", 1}, {"float", 4}};
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string gpu, operation, type, gpus, elements, time;
    for (std::string* field : {&gpu, &operation, &type, &gpus, &elements, &time}) {
      std::getline(fields, *field, ',');
    }
    for (const Collective one : roofcast::transformer::kCollectives) {
      if (name(one) != operation) continue;
      rows.push_back({gpu.starts_with("a100") ? 0U : 1U, gpu, one, std::stod(gpus),
                      std::stod(elements) * sizes.at(type), std::stod(time) * 1e-6});
    }
  }
  return rows;
}

/// Logarithms of the constants, so that each stays above 0.
using Point = std::vector<double>;

CollectiveConstants constants_of(const Point& point) {
  const auto at = [&](std::size_t i) { return std::exp(point[i]); };
  CollectiveConstants result;
  result.protocols = {{{1, 1, at(6)}, {at(7), at(8), at(9)}, {at(10), at(11), 1}}};
  result.own_share = at(12);
  result.alltoall_start = at(13);
  return result;
}

LinkCosts link_of(const Point& point, std::size_t machine) {
  return {kOneWay[machine] * std::exp(point[4 + machine]), std::exp(point[machine]),
          std::exp(point[2 + machine])};
}

double error(const Point& point, const Row& row) {
  return expected_collective_s({row.collective, row.bytes, row.gpus}, link_of(point, row.machine),
                               constants_of(point)) /
             row.time_s -
         1;
}

double loss(const Point& point, const std::vector<Row>& rows) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    sum += std::abs(std::log1p(error(point, rows[i])));
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
            const std::function<bool(const Row&, bool even)>& keep) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (keep(rows[i], i % 2 == 0)) errors.push_back(std::abs(error(point, rows[i])));
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

int main(int argc, char** argv) {
  const std::vector<Row> rows = read_rows(argc > 1 ? argv[1] : "");
  if (rows.empty()) {
    std::fprintf(stderr, "usage: fit_collectives collectives_nccl.csv\n");
    return 2;
  }
  Point point = {8e-6, 4.3e-6, 0.97e-6, 0.85e-6, 0.71, 0.79, 19,
                 1.05, 1.45,   1.9,     3,       1.5,  0.35, 1.35};
  for (double& value : point) value = std::log(value);
  point = fitted(point, rows);
  const char* names[] = {"A100 collective_start_s",
                         "Hopper collective_start_s",
                         "A100 collective_step_s",
                         "Hopper collective_step_s",
                         "A100 collective_link_share",
                         "Hopper collective_link_share",
                         "protocols[0].bytes",
                         "protocols[1].start",
                         "protocols[1].step",
                         "protocols[1].bytes",
                         "protocols[2].start",
                         "protocols[2].step",
                         "own_share",
                         "alltoall_start"};
  for (std::size_t i = 0; i < point.size(); ++i)
    std::printf("%-30s %.4g\n", names[i], std::exp(point[i]));
  constexpr double kLarge = 1e6;
  report("even, to 1 MB", point, rows,
         [](const Row& row, bool even) { return even && row.bytes <= kLarge; });
  report("even, over 1 MB", point, rows,
         [](const Row& row, bool even) { return even && row.bytes > kLarge; });
  report("odd, all", point, rows, [](const Row&, bool even) { return !even; });
  report("odd, over 1 MB", point, rows,
         [](const Row& row, bool even) { return !even && row.bytes > kLarge; });
  for (const char* gpu : {"a100-sxm4-80gb", "h100-sxm5", "h200-sxm"}) {
    report((std::string(gpu) + ", odd").c_str(), point, rows,
           [&](const Row& row, bool even) { return !even && row.gpu == gpu; });
    report(
        (std::string(gpu) + ", odd, over 1 MB").c_str(), point, rows,
        [&](const Row& row, bool even) { return !even && row.gpu == gpu && row.bytes > kLarge; });
  }
  for (const Collective one : roofcast::transformer::kCollectives) {
    report((std::string(name(one)) + ", odd").c_str(), point, rows,
           [&](const Row& row, bool even) { return !even && row.collective == one; });
    report((std::string(name(one)) + ", odd, over 1 MB").c_str(), point, rows,
           [&](const Row& row, bool even) {
             return !even && row.collective == one && row.bytes > kLarge;
           });
  }
  return 0;
}
