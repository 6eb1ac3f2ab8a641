#include "validation/comparison/impossible.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {
namespace {

using ::testing::HasSubstr;

const Gpu& h100() {
  static const Gpu gpu = [] {
    const specs::Embedded& found = *specs::find_embedded("h100-sxm5");
    return specs::load(
        {"h100-sxm5", std::string(found.text), "overlay", std::string(found.overlay_text), {}});
  }();
  return gpu;
}

const Gpu* find(std::string_view name) {
  return name == "h100-sxm5" ? &h100() : nullptr;
}

TableQuery of_families() {
  TableQuery query;
  query.families = true;
  return query;
}

// 2 * 8192^3 FLOP at 132 SMs, 4096 FLOP a clock and 1.995 GHz: 1.019 ms.
TEST(Impossible, AProductFasterThanTheTensorCores) {
  const Table table = parse_table("t.csv",
                                  "kernel,gpu,dtype,m,n,k,time_us\n"
                                  "gemm,h100-sxm5,bf16,8192,8192,8192,1100\n"
                                  "gemm,h100-sxm5,bf16,8192,8192,8192,900\n"
                                  "gemm.library,h100-sxm5,bf16,8192,8192,8192,500\n",
                                  of_families());
  const TableCheck check = check_table(table, find);
  ASSERT_EQ(check.rows.size(), 3U);
  EXPECT_NEAR(check.rows[0].limit_s, 1.019e-3, 0.001e-3);
  EXPECT_EQ(check.rows[0].bound, Resource::tensor);
  ASSERT_EQ(check.impossible, (std::vector<std::size_t>{2, 1}));  // the most too fast first
  EXPECT_NEAR(check.rows[1].times_too_fast(), 1.133, 0.001);
  EXPECT_EQ(check.rows[1].place, 3U);
}

// 2^28 floats in and out are 2.147 GB; 50 MB of the result may stay in L2: 0.625 ms at 3.35 TB/s.
TEST(Impossible, ACopyFasterThanDram) {
  const std::string header = "kernel,gpu,dtype,n,time_us\n";
  const auto count = [&](const std::string& time_us) {
    const std::string row = "stream.copy,h100-sxm5,fp32,268435456," + time_us + "\n";
    return check_table(parse_table("t.csv", header + row, {}), find).impossible.size();
  };
  EXPECT_EQ(count("600"), 1U);
  EXPECT_EQ(count("660"), 0U);
}

TEST(Impossible, RowsOfAnUnknownGpuAreKeptWithTheReason) {
  const Table table = parse_table("t.csv",
                                  "kernel,gpu,dtype,n,time_us\n"
                                  "stream.copy,h100-sxm5,fp32,1048576,100\n"
                                  "stream.copy,h900,fp32,1048576,100\n",
                                  {});
  const TableCheck check = check_table(table, find);
  EXPECT_EQ(check.rows.size(), 1U);
  ASSERT_EQ(check.unchecked.size(), 1U);
  EXPECT_EQ(check.unchecked[0].place, 3U);
  EXPECT_THAT(check.unchecked[0].reason, HasSubstr("h900"));
}

TEST(JsonTable, HasTheRowsOfTheCsv) {
  const Table table = parse_json_table(
      "t.json",
      R"([{"kernel": "gemm", "gpu": "h100-sxm5", "dtype": "bf16", "m": 8192, "n": 8.192e3,
           "k": 8192, "time_us": 900, "note": "x"},
          {"kernel": "stream.copy", "gpu": "h100-sxm5", "dtype": "fp32", "n": 1048576,
           "time_us": 100}])",
      of_families());
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[1].line, 2U);
  EXPECT_EQ(table.ignored_columns, std::vector<std::string>{"note"});
  const TableCheck check = check_table(table, find);
  EXPECT_EQ(check.impossible, std::vector<std::size_t>{0});
}

TEST(JsonTable, RefusesWhatIsNoListOfObjects) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      (void)parse_json_table("t.json", text, of_families());
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("{"), HasSubstr("t.json"));
  EXPECT_THAT(message("{}"), HasSubstr("array of objects"));
  EXPECT_THAT(message("[1]"), HasSubstr("row 1"));
  EXPECT_THAT(message("[]"), HasSubstr("no row"));
  EXPECT_THAT(message(R"([{"kernel": ["gemm"], "time_us": 1}])"), HasSubstr("kernel"));
  EXPECT_THAT(
      message(R"([{"kernel": "gemm", "gpu": "a", "dtype": "bf16", "m": 1, "n": 1, "k": 1}])"),
      HasSubstr("time_us"));
}

// A table of several kernels leaves the parameters of the others empty.
TEST(Table, AnEmptyFieldIsNotGiven) {
  const Table table = parse_table("t.csv",
                                  "kernel,gpu,dtype,m,n,k,rows,cols,time_us\n"
                                  "gemm,h100-sxm5,bf16,64,64,64,,,100\n"
                                  "softmax,h100-sxm5,bf16,,,,64,64,100\n",
                                  of_families());
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THROW(parse_table("t.csv",
                           "kernel,gpu,dtype,m,n,k,time_us\n"
                           "gemm,h100-sxm5,bf16,64,64,,100\n",
                           of_families()),
               InputError);
}

TEST(Table, TheGpuOfTheQueryIsThatOfATableWithoutTheColumn) {
  TableQuery query = of_families();
  query.gpu = "h100-sxm5";
  const Table table =
      parse_table("t.csv", "kernel,dtype,m,n,k,time_us\ngemm,bf16,64,64,64,100\n", query);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].gpu, "h100-sxm5");
}

}  // namespace
}  // namespace roofcast::validation
