#include "validation/profiles/ncu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "hw_specs/loader.hpp"
#include "validation/profiles/byte_stream.hpp"
#include "validation/profiles/csv_numbers.hpp"

namespace roofcast::validation {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRaw =
    "==PROF== Connected to process 12\n"
    "Epoch 1, loss 0.5\n"
    "==PROF== Profiling \"copy\": 0%....50%....100% - 9 passes\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\","
    "\"gpu__time_duration.sum\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\","
    "\"launch__registers_per_thread\",\"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum\","
    "\"launch__waves_per_multiprocessor\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"usecond\",\"Mbyte\",\"Mbyte\",\"register/"
    "thread\",\"inst\",\"\"\n"
    "\"0\",\"12\",\"void copy<4>(float*, float*)\",\"(256, 1, 1)\",\"(65,536, 1, "
    "1)\",\"0\",\"9.0\","
    "\"1,200.50\",\"1,000.0\",\"1,000.0\",\"16\",\"2,000,000\",\"62.06\"\n"
    "a line of the program's\n"
    "==PROF== Disconnected from process 12\n"
    "\"1\",\"12\",\"void copy<4>(float*, float*)\",\"(256, 1, 1)\",\"(65,536, 1, "
    "1)\",\"0\",\"9.0\","
    "\"1,000.50\",\"1,000.0\",\"1,200.0\",\"16\",\"2,000,000\",\"62.06\"\n"
    "\"2\",\"12\",\"other\",\"(128, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\","
    "\"2.25\",\"0.01\",\"0\",\"32\",\"0\",\"n/a\"\n";

Trace read(const std::string& text) {
  return read_ncu({{"k.csv", text}});
}

std::string refusal(const std::string& text) {
  try {
    (void)read(text);
  } catch (const specs::SpecError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(Ncu, ReadsKernelsBelowPreambleAndUnits) {
  const Trace trace = read(kRaw);
  EXPECT_TRUE(trace.counted);
  EXPECT_EQ(trace.kernels, 3);
  EXPECT_EQ(trace.compute_capability, "9.0");
  EXPECT_EQ(trace.ignored_lines, 1);
  EXPECT_NEAR(trace.busy_s, (1200.5 + 1000.5 + 2.25) * 1e-6, 1e-12);
  ASSERT_EQ(trace.calls.size(), 2U);  // equal launches together
  const ProfiledKernel& copy = trace.calls[0].kernels.front();
  EXPECT_EQ(copy.name, "void copy<4>(float*, float*)");
  EXPECT_EQ(copy.calls, 2);
  EXPECT_EQ(copy.launch->registers, 16);
  EXPECT_EQ(copy.launch->threads(), 256);
  EXPECT_NEAR(*copy.counted.dram_read_bytes, 1e9, 1);  // a call
  EXPECT_NEAR(*copy.counted.dram_write_bytes, 1.1e9, 1);
  EXPECT_NEAR(*copy.counted.vector_flops, 4e6, 1e-3);
  EXPECT_NEAR(*copy.said_waves, 62.06, 1e-9);
  EXPECT_FALSE(trace.calls[1].kernels.front().said_waves);
}

// 65,536 is written with its groups parted too.
TEST(Ncu, GridsMayBeGrouped) {
  const Trace trace = read(replaced(kRaw, "(65,536, 1, 1)", "(65536, 1, 1)"));
  EXPECT_EQ(trace.calls[0].kernels.front().launch->blocks(), 65536);
}

TEST(Ncu, NumbersMayBeGerman) {
  std::string text = kRaw;
  for (const auto& [english, german] :
       {std::pair{"1,200.50", "1.200,50"}, std::pair{"1,000.50", "1.000,50"},
        std::pair{"1,000.0", "1.000,0"}, std::pair{"1,200.0", "1.200,0"},
        std::pair{"2,000,000", "2.000.000"}, std::pair{"62.06", "62,06"},
        std::pair{"\"2.25\"", "\"2,25\""}, std::pair{"\"0.01\"", "\"0,01\""}}) {
    text = replaced(text, english, german);
  }
  const Trace trace = read(text);
  EXPECT_NEAR(trace.busy_s, (1200.5 + 1000.5 + 2.25) * 1e-6, 1e-12);
  EXPECT_NEAR(*trace.calls[0].kernels.front().counted.vector_flops, 4e6, 1e-3);
}

constexpr const char* kDetails =
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid "
    "Size\",\"Device\",\"CC\",\"Section Name\","
    "\"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\"\n"
    "\"0\",\"1\",\"k\",\"(256, 1, 1)\",\"(128, 1, "
    "1)\",\"0\",\"9.0\",\"Speed\",\"Duration\",\"ns\",\"2,000\",\"\"\n"
    "\"0\",\"1\",\"k\",\"(256, 1, 1)\",\"(128, 1, 1)\",\"0\",\"9.0\",\"Speed\",\"Memory "
    "Throughput\",\"%\",\"50\",\"\"\n"
    "\"0\",\"1\",\"k\",\"(256, 1, 1)\",\"(128, 1, 1)\",\"0\",\"9.0\",\"Memory\",\"Memory "
    "Throughput\",\"Gbyte/s\","
    "\"1,000\",\"\"\n"
    "\"0\",\"1\",\"k\",\"(256, 1, 1)\",\"(128, 1, 1)\",\"0\",\"9.0\",\"Memory\",\"\",\"\",\"\",\"a "
    "\"\"rule\"\"\nsays\"\n"
    "\"1\",\"1\",\"k\",\"(256, 1, 1)\",\"(128, 1, "
    "1)\",\"0\",\"9.0\",\"Speed\",\"Duration\",\"us\",\"3\",\"\"\n";

TEST(Ncu, ReadsTheDetailsPage) {
  const Trace trace = read(kDetails);
  EXPECT_EQ(trace.kernels, 2);
  EXPECT_NEAR(trace.busy_s, 5e-6, 1e-15);
  // 1 TB/s for 2 us, of one of two calls: the sum over those that say it, by all calls.
  EXPECT_NEAR(*trace.calls[0].kernels.front().counted.dram_bytes(), 1e6, 1);
}

// Columns of time, launch, DRAM and arithmetic of `ncu --set full`: fp32 and fp16 products of 2048
// x 2048 x 2048 on an H100. Peaks stand beside counts, and counts beside the same per cycle.
TEST(Ncu, CountsArithmeticOfTheFullSetOnce) {
  const std::string file =
      std::string(ROOFCAST_EXAMPLE_TRACES) + "/../profiles/products_ncu_full.csv";
  const Trace trace = read_ncu({{file, read_all(*open_bytes(file), file, 1 << 20)}});
  const auto counted = [&](std::string_view name) {
    const auto found = std::find_if(trace.calls.begin(), trace.calls.end(), [&](const auto& call) {
      return call.name.find(name) != std::string::npos;
    });
    return found == trace.calls.end() ? CountedWork() : found->kernels.front().counted;
  };
  constexpr double kProduct = 2.0 * 2048 * 2048 * 2048;
  EXPECT_NEAR(counted("simt_sgemm").vector_flops.value_or(0) / kProduct, 1, 0.01);
  EXPECT_DOUBLE_EQ(counted("nvjet").tensor_flops.total(), kProduct);
  EXPECT_EQ(counted("nvjet").vector_flops, 0);
  EXPECT_EQ(counted("float16_copy_kernel").vector_flops, 0);
  EXPECT_DOUBLE_EQ(counted("float16_copy_kernel").l2_read_bytes.value_or(0), 4 * 2048 * 2048);
}

// `ncu --set basic` has no bytes: DRAM was busy for 1.35% of 424.4 us.
TEST(Ncu, ReadsHowBusyDramIsWhereNoBytesWereCounted) {
  const std::string text =
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"gpu__time_duration.sum\","
      "\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\"\n"
      "\"\",\"\",\"\",\"\",\"ns\",\"%\"\n"
      "\"0\",\"gemm\",\"(128, 1, 1)\",\"(256, 1, 1)\",\"424,448\",\"1.35\"\n";
  EXPECT_DOUBLE_EQ(*read(text).calls[0].kernels.front().counted.dram_busy, 0.0135);
}

// Another file with other metrics of the same kernels is another pass.
TEST(Ncu, FilesArePasses) {
  const std::string header =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"Device\",";
  const std::string kernel = "\"0\",\"1\",\"k\",\"(8, 1, 1)\",\"(32, 1, 1)\",\"0\",";
  const Trace trace = read_ncu(
      {{"a.csv", header + "\"gpu__time_duration.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"\n" +
                     kernel + "\"1000\"\n"},
       {"b.csv", header + "\"dram__bytes.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"Kbyte\"\n" +
                     kernel + "\"5\"\n"}});
  EXPECT_EQ(trace.kernels, 1);
  EXPECT_NEAR(*trace.calls[0].kernels.front().counted.dram_bytes(), 5000, 1e-9);
}

TEST(Ncu, RefusesWhatIsNoTable) {
  EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("Kernel Name"));
  EXPECT_THAT(refusal("==ERROR== no permission\n"), HasSubstr("--page raw"));
  const std::string whole = kRaw;
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 20)), HasSubstr("cut off"));
  EXPECT_THAT(refusal(replaced(kRaw, "gpu__time_duration.sum", "other")), HasSubstr("time"));
  EXPECT_THAT(refusal(replaced(kRaw, "usecond", "parsec")), HasSubstr("not \"parsec\""));
  EXPECT_THAT(refusal(replaced(kDetails, "\"ns\"", "\"cycle\"")), HasSubstr("unit of time"));
  EXPECT_THAT(refusal(replaced(kRaw, "\"1\",\"12\"", "\"1\"")), HasSubstr("fields"));
  EXPECT_THAT(refusal(whole.substr(0, whole.find("\"0\",\"12\""))), HasSubstr("kernel"));
}

TEST(Ncu, DevicesAreNotMixed) {
  const std::string mixed = replaced(kRaw, "(1, 1, 1)\",\"0\"", "(1, 1, 1)\",\"1\"");
  EXPECT_THAT(refusal(mixed), HasSubstr("0, 1"));
  EXPECT_EQ(read_ncu({{"k.csv", mixed}}, 1).kernels, 1);
  EXPECT_THROW(read_ncu({{"k.csv", mixed}}, 7), specs::SpecError);
}

TEST(Ncu, LanguagesAreNotMixed) {
  EXPECT_THAT(refusal(replaced(kRaw, "\"2.25\"", "\"2,25\"")), HasSubstr("language"));
}

TEST(CsvNumbers, ReadsBothLanguages) {
  EXPECT_EQ(number_with("1,234.5", '.'), 1234.5);
  EXPECT_EQ(number_with("1.234,5", ','), 1234.5);
  EXPECT_EQ(number_with("1\u202f234,5", ','), 1234.5);
  EXPECT_EQ(number_with("1'234.5", '.'), 1234.5);
  EXPECT_EQ(number_with("-2", '.'), -2);
  EXPECT_FALSE(number_with("n/a", '.'));
  EXPECT_FALSE(number_with("", '.'));
}

TEST(CsvNumbers, LearnsFromNumbersThatCannotBeOtherwise) {
  const auto decimal = [](std::initializer_list<const char*> texts) {
    NumberStyle style;
    for (const char* text : texts) style.see(text);
    return style.decimal();
  };
  EXPECT_EQ(decimal({"1,234"}), '.');  // either: as ncu writes by itself
  EXPECT_EQ(decimal({"1,234", "0,5"}), ',');
  EXPECT_EQ(decimal({"1,234,567"}), '.');
  EXPECT_EQ(decimal({"1.234.567"}), ',');
  EXPECT_EQ(decimal({"12,25"}), ',');
  EXPECT_EQ(decimal({"1.234,5"}), ',');
  EXPECT_EQ(decimal({"0,123"}), ',');
  EXPECT_EQ(decimal({"(1,5)", "n/a"}), '.');  // no number
  EXPECT_FALSE(decimal({"0,5", "0.5"}));
}

TEST(CsvNumbers, UnitsAreFactors) {
  EXPECT_DOUBLE_EQ(scale_of_unit("ns"), 1e-9);
  EXPECT_DOUBLE_EQ(scale_of_unit("usecond"), 1e-6);
  EXPECT_DOUBLE_EQ(scale_of_unit("msecond"), 1e-3);
  EXPECT_DOUBLE_EQ(scale_of_unit("second"), 1);
  EXPECT_DOUBLE_EQ(scale_of_unit("Gbyte/second"), 1e9);
  EXPECT_DOUBLE_EQ(scale_of_unit("byte/s"), 1);
  EXPECT_DOUBLE_EQ(scale_of_unit("Ghz"), 1e9);
  EXPECT_DOUBLE_EQ(scale_of_unit("cycle/nsecond"), 1e9);
  EXPECT_DOUBLE_EQ(scale_of_unit("Kbyte/block"), 1e3);
  EXPECT_DOUBLE_EQ(scale_of_unit("register/thread"), 1);
  EXPECT_DOUBLE_EQ(scale_of_unit("%"), 0.01);
}

}  // namespace
}  // namespace roofcast::validation
