// Forecasts of libraries' products against published measurements (../shared/reference), under the
// conditions that they were timed in.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hw_specs/loader.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_tables.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/reference.hpp"
#include "validation/comparison/table.hpp"

namespace roofcast::validation {
namespace {

/// The rows of one GPU and element type of a table.
struct Rows {
  const char* gpu;
  const char* dtype;
  double most;  ///< mean error
  const char* quantize = "nothing";
  std::optional<double> launch_s{};  ///< of each launch; absent: the GPU's own in a graph
};

struct Measured {
  double error = 0, count = 0, inside = 0;
  void add(const Row& row) {
    error += std::abs(row.time_s.error());
    ++count;
    const double time_s = row.time_s.measured;
    if (time_s >= row.predicted_low_s && time_s <= row.predicted_high_s) ++inside;
  }
};

// Rows of odd position, to which no constant was fitted.
void expect_held_out(const char* file, const Rows& rows, TableQuery query) {
  const std::string text = reference_text(file);
  const Gpu& gpu = testing::gpu_named(rows.gpu);
  query.kernel = "gemm.library";
  query.gpu = rows.gpu;
  query.where = {{"dtype", rows.dtype}};
  query.launch_s = rows.launch_s.value_or(gpu.sustained.graph_launch_s.value_or(0));
  const Comparison found = compare_table(file, parse_table(file, text, query),
                                         [&gpu](std::string_view) { return &gpu; });
  EXPECT_TRUE(found.failures.empty());
  Measured held_out;
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    EXPECT_GE(found.rows[i].time_s.measured, found.rows[i].limit_s) << rows.gpu;
    if (i % 2 == 1) held_out.add(found.rows[i]);
  }
  std::printf("%-15s %-5s %5.0f rows: mean error %4.1f%%, %3.0f%% in the interval\n", rows.gpu,
              rows.dtype, held_out.count, 100 * held_out.error / held_out.count,
              100 * held_out.inside / held_out.count);
  EXPECT_LE(held_out.error / held_out.count, rows.most) << rows.gpu << ' ' << rows.dtype;
}

// Graph replay: A stays, five copies of B take turns. An fp8 product's A comes in bf16, and
// launches before the product find its scale and convert it. The B200's rows are of a newer
// release, whose products hide their own launches; the launches beside them take 1.9 µs each, by
// the shortest rows of even position.
TEST(ReferenceProducts, OnTensorCoresAreForecastWithinTheTolerances) {
  constexpr const char* kFile = "gemm_tensor.csv";
  if (reference_text(kFile).empty()) GTEST_SKIP() << "no reference tables here";
  for (const Rows& rows :
       {Rows{"h200-sxm", "bf16", 0.077}, Rows{"h100-sxm5", "bf16", 0.072},
        Rows{"a100-sxm4-80gb", "bf16", 0.10}, Rows{"b200", "bf16", 0.095},
        Rows{"h200-sxm", "fp8", 0.060, "dynamic"}, Rows{"h100-sxm5", "fp8", 0.058, "dynamic"},
        Rows{"b200", "fp8", 0.085, "dynamic_vectors", 1.9e-6}}) {
    TableQuery query;
    query.set = {{"weight_copies", "5"}, {"quantize", rows.quantize}};
    query.cache = CacheState::steady;
    expect_held_out(kFile, rows, query);
  }
}

constexpr const char* kSimtFile = "gemm_fp32.csv";

// The columns n and k of the table are exchanged (below). Times are a profiler's and include a
// launch: for the A100s that of the same set's rows (reference.hpp), for the H100, timed on another
// host, that of its shortest rows.
TEST(ReferenceProducts, OnSimtPipesAreForecastWithinTheTolerances) {
  if (reference_text(kSimtFile).empty()) GTEST_SKIP() << "no reference tables here";
  for (const Rows& rows : {Rows{"a100-pcie-80gb", "fp32", 0.055, "nothing", reference_launch_s()},
                           Rows{"a100-pcie-40gb", "fp32", 0.075, "nothing", reference_launch_s()},
                           Rows{"h100-sxm5", "fp32", 0.075, "nothing", 16e-6}}) {
    TableQuery query;
    query.set = {{"n", "k"}, {"k", "n"}};
    query.cache = CacheState::steady;
    expect_held_out(kSimtFile, rows, query);
  }
}

// The grid has a block for each tile. Over 99% of the grids fit m by what the table calls k, less
// than half fit m by what it calls n.
TEST(ReferenceProducts, GridsSayThatNAndKAreExchanged) {
  std::istringstream in(reference_text(kSimtFile));
  std::string line;
  if (!std::getline(in, line)) GTEST_SKIP() << "no reference tables here";
  int rows = 0, as_named = 0, exchanged = 0;
  while (std::getline(in, line)) {
    std::array<std::string, 10> field;  // gpu,dtype,batch,m,n,k,library_kernel,grid,block,time_us
    std::istringstream fields(line);
    for (std::string& one : field) std::getline(fields, one, ',');
    int tile_rows = 0, tile_columns = 0, x = 0, y = 0;
    if (std::sscanf(field[6].c_str(), "ampere_sgemm_%dx%d", &tile_rows, &tile_columns) != 2)
      continue;
    ASSERT_EQ(std::sscanf(field[7].c_str(), "%dx%d", &x, &y), 2) << line;
    const auto over = [](int size, int tile) { return (size + tile - 1) / tile; };
    // The library computes the transposed product: its rows are C's columns.
    const auto fits = [&](const std::string& columns) {
      return x * y == over(std::stoi(columns), tile_rows) * over(std::stoi(field[3]), tile_columns);
    };
    ++rows;
    as_named += fits(field[4]) ? 1 : 0;
    exchanged += fits(field[5]) ? 1 : 0;
  }
  EXPECT_GT(rows, 1700);
  EXPECT_LT(as_named, rows / 2);
  EXPECT_GT(exchanged, rows * 99 / 100);
}

}  // namespace
}  // namespace roofcast::validation
