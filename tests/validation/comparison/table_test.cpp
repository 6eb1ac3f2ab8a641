#include "validation/comparison/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hw_specs/loader.hpp"
#include "tests/model/devices.hpp"

namespace roofcast::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kGemm =
    "gpu,dtype,m,n,k,batch,time_us\n"
    "test-gpu,fp32,128,256,512,1,10.5\n"
    "\n"
    "other,fp32,64,64,64,1,2\r\n";

TableQuery query(const std::string& kernel) {
  TableQuery out;
  out.kernel = kernel;
  return out;
}

Gpu measured_gpu() {
  const specs::Embedded* shipped = specs::find_embedded("h100-sxm5");
  return specs::load({.file = std::string(shipped->name),
                      .text = std::string(shipped->text),
                      .overlay_file = "calibration",
                      .overlay_text = std::string(shipped->overlay_text),
                      .overrides = {}});
}

TEST(Table, ReadsParametersByColumn) {
  const Table table = parse_table("t.csv", kGemm, query("gemm.tiled"));
  ASSERT_EQ(table.rows.size(), 2U);
  const TableRow& first = table.rows[0];
  EXPECT_EQ(first.gpu, "test-gpu");
  EXPECT_EQ(first.line, 2U);
  EXPECT_EQ(first.measured.kernel, "gemm.tiled");
  EXPECT_EQ(first.measured.problem[1], 256);
  EXPECT_EQ(first.measured.problem[3], 32);  // tile_m: the default
  EXPECT_DOUBLE_EQ(first.measured.timing.median_s(), 10.5e-6);
  EXPECT_EQ(first.measured.cache, CacheState::steady);
  EXPECT_EQ(table.rows[1].line, 4U);
  EXPECT_THAT(table.ignored_columns, ElementsAre("batch"));
}

TEST(Table, FiltersAndComputesParameters) {
  TableQuery q = query("elementwise.relu.fused");
  q.where = {parse_assignment("op=relu,gelu")};
  q.set = {parse_assignment("n=rows*cols*2")};
  q.gpu = "a";
  const Table table = parse_table("t.csv",
                                  "gpu,dtype,op,rows,cols,time_us\n"
                                  "a,fp32,relu,3,5,1\n"
                                  "a,fp32,tanh,3,5,1\n"
                                  "b,fp32,relu,3,5,1\n"
                                  "a,fp32,gelu,7,11,1\n",
                                  q);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].measured.problem[0], 30);
  EXPECT_EQ(table.rows[1].measured.problem[0], 154);
}

TEST(Table, TakesNamesFromAColumnOrAsGiven) {
  constexpr const char* kText =
      "gpu,dtype,n,window,how,distribution,time_us\n"
      "a,fp32,1024,1024,shuffled,uniform,1\n";
  TableQuery q = query("access.gather");
  EXPECT_EQ(parse_table("t.csv", kText, q).rows[0].measured.problem[2], 1);
  q.set = {parse_assignment("distribution=how")};
  EXPECT_EQ(parse_table("t.csv", kText, q).rows[0].measured.problem[2], 0);
  q.set = {parse_assignment("distribution=uniform")};
  EXPECT_EQ(parse_table("t.csv", kText, q).rows[0].measured.problem[2], 1);
  q.set = {parse_assignment("distribution=random")};
  EXPECT_THROW((void)parse_table("t.csv", kText, q), InputError);
  q = query("elementwise.expr.fused");
  q.set = {parse_assignment("expression=max(x, y)=z")};
  const Table table = parse_table("t.csv", "gpu,dtype,n,time_us\na,fp32,8,1\n", q);
  EXPECT_EQ(table.rows[0].measured.problem.text.view(), "max(x, y)=z");
}

TEST(Table, IsOfOneGpuWhereNoColumnNamesIt) {
  constexpr const char* kText = "dtype,n,time_us\nfp32,1024,3\n";
  TableQuery q = query("stream.copy");
  q.gpu = "h200-sxm";
  EXPECT_EQ(parse_table("t.csv", kText, q).rows.at(0).gpu, "h200-sxm");
  q.gpu = "";
  EXPECT_THROW((void)parse_table("t.csv", kText, q), InputError);
}

TEST(Table, TakesTheTimeOfItsCacheState) {
  const auto time_s = [](CacheState cache, const std::string& text) {
    TableQuery q = query("stream.copy");
    q.cache = cache;
    return parse_table("t.csv", text, q).rows.at(0).measured.timing.median_s();
  };
  const std::string both = "gpu,dtype,n,cold_us,steady_us\na,fp32,1024,3,2\n";
  EXPECT_DOUBLE_EQ(time_s(CacheState::cold, both), 3e-6);
  EXPECT_DOUBLE_EQ(time_s(CacheState::steady, both), 2e-6);
  EXPECT_THROW((void)time_s(CacheState::warm, both), InputError);
  EXPECT_DOUBLE_EQ(time_s(CacheState::cold, "gpu,dtype,n,cold_us,time_us\na,fp32,8,3,2\n"), 2e-6);
}

TEST(Table, SaysHowItsKernelsWereLaunched) {
  constexpr const char* kText = "gpu,dtype,n,time_us\nh100-sxm5,fp32,4096,3\n";
  const Gpu gpu = measured_gpu();
  const auto forecast = [&](std::optional<LaunchMode> launch) {
    TableQuery q = query("stream.copy");
    q.launch = launch;
    return compare_table("t.csv", parse_table("t.csv", kText, q),
                         [&](std::string_view) { return &gpu; })
        .rows.at(0)
        .time_s.predicted;
  };
  EXPECT_LT(forecast(LaunchMode::graph), forecast(LaunchMode::stream));
  EXPECT_EQ(forecast(std::nullopt), forecast(LaunchMode::graph));  // steady
}

TEST(Table, TakesTheKernelFromAColumnAndQuotedFields) {
  const Table table = parse_table("t.csv",
                                  "\xEF\xBB\xBFgpu,dtype,n,kernel,remark,time_us\n"
                                  "a,bf16,100,stream.copy,\"x, y\",3\n",
                                  query(""));
  EXPECT_EQ(table.rows[0].measured.kernel, "stream.copy");
  EXPECT_EQ(table.rows[0].measured.problem.dtype, DType::bf16);
}

TEST(Table, TakesTheTypeOfAllRowsFromTheQueryWhereThereIsNoColumn) {
  TableQuery of_bf16 = query("stream.copy");
  of_bf16.dtype = DType::bf16;
  const auto type_in = [&](const char* text) {
    return parse_table("t.csv", text, of_bf16).rows[0].measured.problem.dtype;
  };
  EXPECT_EQ(type_in("gpu,n,time_us\na,1,1\n"), DType::bf16);
  EXPECT_EQ(type_in("gpu,dtype,n,time_us\na,fp16,1,1\n"), DType::fp16);
}

struct BadTable {
  const char* text;
  const char* place;
  const char* says;
};

class BadTables : public ::testing::TestWithParam<BadTable> {};

TEST_P(BadTables, AreRefusedWithLineAndMend) {
  try {
    (void)parse_table("t.csv", GetParam().text, query("stream.copy"));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::string("t.csv: at ") + GetParam().place));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().says));
    EXPECT_THAT(error.what(), HasSubstr("Mend: "));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadTables,
    ::testing::Values(BadTable{"", "line 1:", "header"},
                      BadTable{"[{\"n\":1}]", "line 1:", "found JSON"},
                      BadTable{"gpu,dtype,n,time_us\n", "line 1:", "the table has no rows"},
                      BadTable{"gpu,dtype,n,n,time_us\na,fp32,1,2,1\n", "line 1:", "named \"n\""},
                      BadTable{"gpu,dtype,n\na,fp32,1\n", "line 1:", "time_us"},
                      BadTable{"gpu,n,time_us\na,1,1\n", "line 1:", "or give --dtype"},
                      BadTable{"dtype,n,time_us\nfp32,1,1\n", "line 1:", "gpu"},
                      BadTable{"gpu,dtype,time_us\na,fp32,1\n", "line 2:", "n"},
                      BadTable{"gpu,dtype,n,time_us\na,fp32,1\n", "line 2:", "4 fields"},
                      BadTable{"gpu,dtype,n,time_us\na,fp3,1,1\n", "line 2:", "fp3"},
                      BadTable{"gpu,dtype,n,time_us\na,fp32,1,1\na,fp32,x,1\n", "line 3:", "\"x\""},
                      BadTable{"gpu,dtype,n,time_us\na,fp32,0,1\n", "line 2:", "n is 0"},
                      BadTable{"gpu,dtype,n,time_us\na,fp32,1,0\n", "line 2:", "above 0"},
                      BadTable{"gpu,dtype,n,time_us\na,fp32,1,nan\n", "line 2:", "above 0"},
                      BadTable{"gpu,dtype,n,time_us\na,fp32,1,1us\n", "line 2:", "1us"}));

TEST(Table, ColumnsWithoutANameMayBeSeveral) {
  const Table table =
      parse_table("t.csv", "gpu,,dtype,n,time_us,\na,,fp32,8,1,\n", query("stream.copy"));
  EXPECT_EQ(table.rows.at(0).measured.problem[0], 8);
}

TEST(Table, SaysThatItHasNoRowsOrThatNoneIsWanted) {
  TableQuery q = query("stream.copy");
  q.where = {parse_assignment("op=relu")};
  const auto refusal = [&](const char* text) -> std::string {
    try {
      (void)parse_table("t.csv", text, q);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal("gpu,dtype,n,op,time_us\n"), HasSubstr("the table has no rows"));
  EXPECT_THAT(refusal("gpu,dtype,n,op,time_us\na,fp32,1,gelu,1\n"), HasSubstr("check `where`"));
}

TEST(Table, AssignmentsNeedBothSides) {
  for (const char* text : {"", "=", "op", "op=", "=relu"}) {
    EXPECT_THROW((void)parse_assignment(text), InputError) << text;
  }
}

TEST(CompareTable, GroupsByGpuAndRefusesUnknownOnes) {
  const Gpu one = testing::hopper_like();
  Gpu two = one;
  two.name = "other";
  const Table table = parse_table("t.csv", kGemm, query("gemm.tiled"));
  const Comparison c = compare_table("t.csv", table, [&](std::string_view name) -> const Gpu* {
    return name == one.name ? &one : &two;
  });
  ASSERT_EQ(c.by_gpu.size(), 2U);
  EXPECT_EQ(c.by_gpu[1].group, "other");
  EXPECT_EQ(c.rows[0].time_s.measured, 10.5e-6);
  EXPECT_EQ(c.device, "t.csv");
  EXPECT_THROW((void)compare_table("t.csv", table, [](std::string_view) { return nullptr; }),
               InputError);
}

/// Published tables are not part of the project: see ../shared/reference/README.md.
std::string reference_text(const std::string& file) {
  const char* folder = std::getenv("ROOFCAST_REFERENCE_DIR");
  const std::filesystem::path path =
      std::filesystem::path(folder != nullptr ? folder : ROOFCAST_DEFAULT_REFERENCE_DIR) / file;
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? text.str() : "";
}

TEST(ReferenceTables, AreReadWhole) {
  const std::string text = reference_text("rows_and_elementwise_fp32.csv");
  if (text.empty()) {
    GTEST_SKIP() << "no reference tables here: set ROOFCAST_REFERENCE_DIR to read them";
  }
  TableQuery q = query("elementwise.relu.fused");
  q.where = {{"op", "relu"}};
  q.set = {{"n", "rows*cols"}};
  const Table table = parse_table("rows_and_elementwise_fp32.csv", text, q);
  EXPECT_GT(table.rows.size(), 10U);
  std::vector<Gpu> gpus;
  for (const specs::Embedded& spec : specs::embedded()) {
    gpus.push_back(specs::load({std::string(spec.name), std::string(spec.text), "", "", {}}));
  }
  const Comparison c = compare_table("rows_and_elementwise_fp32.csv", table,
                                     [&](std::string_view name) -> const Gpu* {
                                       for (const Gpu& gpu : gpus) {
                                         if (gpu.name == name) return &gpu;
                                       }
                                       return nullptr;
                                     });
  EXPECT_TRUE(c.failures.empty());
  EXPECT_EQ(c.rows.size(), table.rows.size());
  EXPECT_LT(c.overall.median_absolute_error, 1.0);
}

}  // namespace
}  // namespace roofcast::validation
