#include "cli/input/device_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw_specs/relative.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::expect_refusal;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kBadInput;
using testing::kUsage;
using ::testing::Not;
using testing::run_program;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST(DeviceNames, ABeginningMeansAllThatBeginSo) {
  EXPECT_THAT(devices_like("h200"), ElementsAre("h200-sxm"));
  EXPECT_THAT(devices_like("h100"), UnorderedElementsAre("h100-pcie", "h100-sxm5"));
  EXPECT_THAT(devices_like("H100-S"), ElementsAre("h100-sxm5"));
  EXPECT_THAT(devices_like("a100"), Each(StartsWith("a100-")));
}

TEST(DeviceNames, ThenTheFamilyThenTheNearestSpelling) {
  EXPECT_THAT(devices_like("h100-nvl"), UnorderedElementsAre("h100-pcie", "h100-sxm5"));
  EXPECT_THAT(devices_like("h20-sxm"), ElementsAre("h200-sxm"));
  EXPECT_THAT(devices_like("rtx490"), ElementsAre("rtx4090"));
  EXPECT_THAT(devices_like("gaudi-accelerator"), IsEmpty());
  EXPECT_THAT(devices_like(""), IsEmpty());
}

TEST(DeviceNames, AreSuggestedWhereverOneIsNamed) {
  const std::string asked = "predict stream.copy --n 1024 --gpu ";
  expect_refusal(asked + "h200", kUsage, "Did you mean 'h200-sxm'?");
  expect_refusal(asked + "h100", kUsage, "Did you mean 'h100-pcie' or 'h100-sxm5'?");
  EXPECT_THAT(
      run_program("predict --queries -", R"({"kernel":"stream.copy","n":1,"gpu":"h200"})").out,
      HasSubstr("Did you mean 'h200-sxm'?"));
}

TEST(DeviceNames, AreFoundWhateverTheirCase) {
  const std::string asked = "predict stream.copy --n 1048576 --format json --gpu ";
  const std::string expected = run_program(asked + "h200-sxm").out;
  ASSERT_THAT(expected, Not(IsEmpty()));
  EXPECT_EQ(run_program(asked + "H200-SXM").out, expected);
  const std::string line = R"({"kernel":"stream.copy","n":1048576,"gpu":"H200-Sxm"})";
  EXPECT_EQ(run_program("predict --queries -", line).out, expected);
  EXPECT_EQ(run_program(asked + "v100-sxm2 --relative H200-SXM").out,
            run_program(asked + "v100-sxm2 --relative h200-sxm").out);
  EXPECT_EQ(run_program("gpus RTX4090").out, run_program("gpus rtx4090").out);
}

TEST(DeviceNames, OnlyMeasuredOnesAreRelatives) {
  const auto names = measured_device_names();
  ASSERT_FALSE(names.empty());
  EXPECT_LT(names.size(), device_names().size());
  const std::string asked = "predict stream.copy --n 1024 --gpu l40s --relative ";
  for (const std::string_view name : names) {
    EXPECT_EQ(run_program(asked + std::string(name)).code, 0) << name;
  }
  const std::string refusal = run_program(asked + "nosuch").err;
  for (const std::string_view name : device_names()) {
    const bool works = std::find(names.begin(), names.end(), name) != names.end();
    EXPECT_EQ(refusal.find(name) != std::string::npos, works) << name;
  }
  expect_refusal(asked + "k80", kBadInput, "was not measured");
}

}  // namespace
}  // namespace roofcast::cli
