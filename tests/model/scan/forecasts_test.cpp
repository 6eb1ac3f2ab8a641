// A record of forecasts, which shows what a change of the model changes. A recorded value is not
// thereby right; the laws' own tests derive theirs. Write it again after an intended change:
//   ROOFCAST_RECORD_FORECASTS=1 build/dev/tests/model/model_test --gtest_filter='*AsRecorded'
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/model/scan/draw.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/model/scan/record.hpp"

namespace roofcast {
namespace {

using testing::ScanCase;

// Columns of the record; a brief line has the first seven.
constexpr const char* kHeader =
    "question,gpu,expected_us,registers,shared_per_block,blocks,blocks_per_sm,"
    "high_us,limit_us,dram_read,dram_write,l2,l1,requested,flops,special,conversions,shared,"
    "io_lower_bound,waves,bound,limit_bound,limited_by";

std::string number(double value) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.10g", value);
  return digits;
}

// Sizes of each extent in turn: some fill tiles, vectors and waves, some do not.
std::vector<ScanCase> questions() {
  std::vector<ScanCase> found;
  const std::vector<std::vector<std::int64_t>> of_one = {{1000}, {1 << 20}, {33554431}, {1 << 28}};
  const std::vector<std::vector<std::int64_t>> of_two = {
      {37, 1000}, {4096, 4096}, {100000, 512}, {1000, 50257}, {264, 65536}};
  const std::vector<std::vector<std::int64_t>> of_three = {
      {100, 300, 50}, {1024, 1024, 1024}, {8192, 8192, 8192}, {257, 5000, 12288}};
  const std::vector<std::vector<std::int64_t>> of_experts = {{1, 2048, 768, 128, 8},
                                                             {1000, 4096, 1536, 8, 2}};
  for (const KernelRef& kernel : testing::all_variants()) {
    const auto extents = testing::extents(kernel);
    const auto& shapes = extents.size() == 1   ? of_one
                         : extents.size() == 2 ? of_two
                         : extents.size() == 3 ? of_three
                                               : of_experts;
    for (ScanCase question : testing::templates(kernel)) {
      for (const auto& shape : shapes) {
        for (std::size_t i = 0; i < extents.size(); ++i) question.problem[extents[i]] = shape.at(i);
        found.push_back(question);
      }
    }
  }
  return found;
}

// One size, with each setting varied in turn, vector_bytes together with loads. Questions that the
// kernel refuses are left out.
std::vector<ScanCase> configured(const Gpu& gpu) {
  std::vector<ScanCase> found;
  for (const KernelRef& kernel : testing::all_variants()) {
    const auto extents = testing::extents(kernel);
    const auto parameters = kernel.parameters();
    for (const DType type : kernel.dtypes()) {
      ScanCase base = testing::templates(kernel).front();
      base.problem.dtype = type;
      for (const std::size_t i : extents) base.problem[i] = extents.size() == 1 ? 1 << 20 : 2048;
      // Types other than the first are asked with default settings only.
      const auto add = [&](const ScanCase& question) {
        const bool is_new = type == kernel.dtypes().front() && !(question.problem == base.problem);
        if (is_new && testing::ask(question, gpu)) found.push_back(question);
      };
      if (testing::ask(base, gpu)) found.push_back(base);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (!parameters[i].configures) continue;
        const bool paired = parameters[i].name == "vector_bytes";
        for (std::int64_t value = 1; value <= std::min<std::int64_t>(parameters[i].maximum, 1024);
             value *= 4) {
          if (value < parameters[i].minimum) continue;
          ScanCase question = base;
          question.problem[i] = value;
          add(question);
          for (std::int64_t loads = 2; paired && loads <= 8; loads *= 4) {
            question.problem[i + 1] = loads;
            add(question);
          }
        }
      }
    }
  }
  return found;
}

/// A line of the record. `brief`: only the time and the launch.
std::string forecast_line(const ScanCase& question, const Gpu& gpu, bool brief) {
  std::string line = testing::text(question) + "," + gpu.name;
  const auto found = testing::ask(question, gpu);
  if (!found) return line + ",refused";
  const Forecast time = found->time.value_or(Forecast{});
  const Work& work = found->work;
  const Launch launch = found->launch.value_or(Launch{});
  const Occupancy fit = found->occupancy.value_or(Occupancy{});
  line += "," + number(time.expected_s * 1e6);
  for (const std::int64_t value :
       {launch.registers, launch.shared_bytes, launch.blocks(), fit.blocks_per_sm}) {
    line += "," + std::to_string(value);
  }
  if (brief) return line;
  for (const double value :
       {time.high_s * 1e6, found->limit.time_s * 1e6, work.dram.read_bytes, work.dram.write_bytes,
        work.l2.total_bytes(), work.l1.total_bytes(), work.requested.total_bytes(), work.flops(),
        work.special_flops, work.conversions, work.shared_bytes, found->io.lower_bound_bytes}) {
    line += "," + number(value);
  }
  line += "," + (found->waves ? number(found->waves->count) : "");
  line += "," + std::string(name(binding(time.terms)));
  line += "," + std::string(name(binding(found->limit.terms)));
  return line + "," + std::string(name(fit.limited_by));
}

// About three of five questions for the calibrated H200, each of the others for another device.
// Which one depends on the question and the names alone: a new device or kernel leaves the other
// lines as they are.
std::vector<std::string> forecasts() {
  const Gpu& h200 = testing::gpu_named("h200-sxm");
  std::vector<std::string_view> others;
  for (const Gpu& gpu : testing::gpus()) {
    if (gpu.name != h200.name) others.push_back(gpu.name);
  }
  std::vector<std::string> lines = {kHeader};
  for (const ScanCase& question : questions()) {
    const std::string words = testing::text(question);
    const bool calibrated = testing::stable_hash(words) % 5 < 3;
    const Gpu& gpu = calibrated ? h200 : testing::gpu_named(testing::drawn_name(words, others));
    lines.push_back(forecast_line(question, gpu, false));
  }
  for (const ScanCase& question : configured(h200)) {
    lines.push_back(forecast_line(question, h200, true));
  }
  return lines;
}

TEST(Forecasts, AreAsRecorded) {
  testing::expect_as_recorded("forecasts.csv", forecasts());
}

}  // namespace
}  // namespace roofcast
