#include "hw_specs/kernel_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "hw_specs/loader.hpp"
#include "hw_specs/text_file.hpp"
#include "model/predict.hpp"

namespace roofcast::specs {
namespace {

namespace fs = std::filesystem;

Gpu shipped(const std::string& name) {
  const Embedded& found = *find_embedded(name);
  return load({name, std::string(found.text), "overlay", std::string(found.overlay_text), {}});
}

Prediction forecast(const KernelRef& kernel, const std::string& gpu = "h200-sxm") {
  Problem problem;
  problem.dtype = kernel.dtypes().front();
  check(kernel, problem, 0);
  return predict(kernel, problem, shipped(gpu));
}

std::string six_numbers(const std::string& more = "") {
  return R"({"name":"mine","launch":{"threads":256,"registers":32,"shared_bytes":0},)"
         R"("work":{"flops":{"fp32":1e9},"read_bytes":1e8,"write_bytes":1e8})" +
         more + "}";
}

void expect_refused(const std::string& text, const std::string& pointer) {
  try {
    load_kernel("mine.json", text);
    FAIL() << text;
  } catch (const SpecError& error) {
    EXPECT_EQ(error.pointer(), pointer) << error.what();
    EXPECT_NE(std::string(error.what()).find("Mend: "), std::string::npos);
  }
}

TEST(KernelFile, SixNumbersAreAForecast) {
  const Prediction answer = forecast(load_kernel("mine.json", six_numbers()));
  ASSERT_TRUE(answer.time);
  EXPECT_GT(answer.limit.time_s, 1e8 / 5e12);  // the reads, at 4.8 TB/s
  EXPECT_DOUBLE_EQ(answer.work.compulsory.total_bytes(), 2e8);
  EXPECT_GE(answer.time->expected_s, answer.limit.time_s);
}

TEST(KernelFile, MistakesAreNamedByTheirPlace) {
  expect_refused(six_numbers(R"(,"bytes":1)"), "/bytes");
  expect_refused(six_numbers(R"(,"name":"twice")"), "/name");
  expect_refused(six_numbers(R"(,"phases":[{"share":"2*m"}])"), "/phases/0/share");
  expect_refused(six_numbers(R"(,"arrays":[{"name":"a","read_bytes":4}])"), "/work/read_bytes");
  expect_refused(six_numbers(R"(,"parameters":{"max":4})"), "/parameters/max");
  expect_refused(six_numbers(R"(,"parameters":{"gpu":4})"), "/parameters/gpu");
  expect_refused(R"({"name":"a\"b","launch":{"threads":32,"registers":8},"work":{}})", "/name");
  expect_refused(R"({"name":"mine","launch":{"threads":32,"registers":8},"work":{},)"
                 R"("arrays":[{"name":"a","read_bytes":4,"access":"strided"}]})",
                 "/arrays/0");
}

TEST(KernelFile, EveryExampleIsForecast) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(ROOFCAST_EXAMPLES)) {
    if (entry.path().extension() != ".json") continue;
    const KernelRef kernel = load_kernel(entry.path(), read_text(entry.path()));
    EXPECT_EQ(kernel.kernel->name, entry.path().stem().string());
    const Prediction answer = forecast(kernel);
    ASSERT_TRUE(answer.time) << entry.path();
    EXPECT_GE(answer.time->expected_s, answer.limit.time_s) << entry.path();
    EXPECT_TRUE(fs::exists(fs::path(entry.path()).replace_extension(".cu"))) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, 8);
}

TEST(KernelFile, ExamplesTakeTheTimeThatIsForecast) {
  std::istringstream lines(read_text(ROOFCAST_EXAMPLE_TIMES));
  std::string gpu, name, time_us, error;
  std::getline(lines, gpu);  // the header
  int compared = 0;
  while (std::getline(lines, gpu, ',') && std::getline(lines, name, ',') &&
         std::getline(lines, time_us, ',') && std::getline(lines, error)) {
    const std::string file = std::string(ROOFCAST_EXAMPLES) + "/" + name + ".json";
    const Prediction answer = forecast(load_kernel(file, read_text(file)), gpu);
    const double measured_s = 1e-6 * std::stod(time_us);
    EXPECT_NEAR(answer.time->expected_s / measured_s, 1, 0.18) << gpu << " " << name;
    EXPECT_LT(answer.limit.time_s, measured_s) << gpu << " " << name;
    ++compared;
  }
  EXPECT_EQ(compared, 16);
}

}  // namespace
}  // namespace roofcast::specs
