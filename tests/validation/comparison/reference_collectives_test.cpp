// Collectives against published measurements: the rows that no constant was fitted to.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>

#include "hw_specs/loader.hpp"
#include "model/transformer/collective.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

using transformer::Collective;

struct Group {
  double sum = 0;
  int rows = 0;
  int inside = 0;
  void add(const transformer::CollectiveForecast& time, double measured_s) {
    sum += std::abs(time.expected_s / measured_s - 1);
    inside += int{measured_s >= time.low_s && measured_s <= time.high_s};
    ++rows;
  }
  double error() const { return sum / rows; }
  double coverage() const { return static_cast<double>(inside) / rows; }
};

Gpu device(const std::string& name) {
  const specs::Embedded* found = specs::find_embedded(name);
  specs::Source source;
  source.file = name;
  source.text = found->text;
  return specs::load(source);
}

Collective collective_of(const std::string& operation) {
  for (const Collective one : transformer::kCollectives) {
    if (name(one) == operation) return one;
  }
  ADD_FAILURE() << operation;
  return Collective::all_reduce;
}

TEST(ReferenceCollectives, RowsOfOddPosition) {
  const std::string text = reference_text("collectives_nccl.csv");
  if (text.empty()) {
    GTEST_SKIP() << "no reference tables here: set ROOFCAST_REFERENCE_DIR to read them";
  }
  std::map<std::string, Gpu> gpus;
  Group all;
  Group large;
  const std::map<std::string, double> sizes = {{"half", 2}, {"int8", 1}, {"float", 4}};
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  for (int position = 0; std::getline(in, line); ++position) {
    if (position % 2 == 0) continue;
    std::istringstream fields(line);
    std::string gpu, operation, type, count, elements, time;
    for (std::string* field : {&gpu, &operation, &type, &count, &elements, &time}) {
      std::getline(fields, *field, ',');
    }
    if (!gpus.contains(gpu)) gpus.emplace(gpu, device(gpu));
    const double bytes = std::stod(elements) * sizes.at(type);
    const auto forecast = transformer::predict_collective(
        {collective_of(operation), bytes, std::stod(count)}, gpus.at(gpu));
    const double measured_s = std::stod(time) * 1e-6;
    EXPECT_GE(measured_s, forecast.limit_s) << line;
    all.add(forecast, measured_s);
    if (bytes > 1e6) large.add(forecast, measured_s);
  }
  EXPECT_LE(all.error(), 0.12);
  EXPECT_LE(large.error(), 0.08);
  EXPECT_GE(all.coverage(), 0.88);
  EXPECT_GE(large.coverage(), 0.88);
  std::printf("all %.2f%% (%.1f%% inside), over 1 MB %.2f%% (%.1f%% inside)\n", 100 * all.error(),
              100 * all.coverage(), 100 * large.error(), 100 * large.coverage());
}

}  // namespace
}  // namespace roofcast::validation
