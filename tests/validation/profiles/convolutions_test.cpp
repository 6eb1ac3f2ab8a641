// Convolutions, counted by hand.
#include <gtest/gtest.h>

#include "hw_specs/loader.hpp"
#include "validation/profiles/forecasts.hpp"

namespace roofcast::validation {
namespace {

const Gpu& h100() {
  static const Gpu gpu = [] {
    const specs::Embedded& found = *specs::find_embedded("h100-sxm5");
    return specs::load(
        {"h100-sxm5", std::string(found.text), "overlay", std::string(found.overlay_text), {}});
  }();
  return gpu;
}

TensorShape bf16(std::vector<std::int64_t> dims) {
  return {std::move(dims), {}, "c10::BFloat16"};
}

TracedCall forward(TensorShape input, TensorShape weight, const std::string& padding,
                   const std::string& stride, const std::string& dilation) {
  TracedCall call;
  call.name = "aten::cudnn_convolution";
  call.inputs = {std::move(input), std::move(weight)};
  call.values = {"", "", padding, stride, dilation, "1", "False", "False", "True"};
  return call;
}

TracedCall backward(TensorShape gradient, TensorShape input, TensorShape weight,
                    const std::string& mask, const std::string& transposed = "False") {
  TracedCall call;
  call.name = "aten::convolution_backward";
  call.inputs = {std::move(gradient), std::move(input), std::move(weight)};
  call.values = {"", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", transposed, "[0, 0]", "1", mask};
  return call;
}

void expect_work(const TracedCall& call, double flops, double read, double written,
                 bool catalogued = false) {
  const auto found = recognize(call);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bound_alone, !catalogued);
  const auto forecast = forecast_of(*found, found->problem, h100(), {});
  ASSERT_TRUE(forecast);
  EXPECT_DOUBLE_EQ(forecast->work.tensor_flops.total(), flops);
  EXPECT_DOUBLE_EQ(forecast->work.compulsory.read_bytes, read);
  EXPECT_DOUBLE_EQ(forecast->work.compulsory.write_bytes, written);
}

// 2 images of 4 x 8 x 8, 6 filters of 4 x 3 x 3.
TEST(Convolutions, EveryResultIsASumOverAFilter) {
  const double input = 2 * 4 * 64 * 2, weight = 6 * 4 * 9 * 2;
  const auto of = [](const char* padding, const char* stride, const char* dilation) {
    return forward(bf16({2, 4, 8, 8}), bf16({6, 4, 3, 3}), padding, stride, dilation);
  };
  expect_work(of("[1, 1]", "[1, 1]", "[1, 1]"), 2.0 * 2 * 6 * 64 * 36, input + weight,
              2 * 6 * 64 * 2, true);
  expect_work(of("[0, 0]", "[1, 1]", "[1, 1]"), 2.0 * 2 * 6 * 36 * 36, input + weight,
              2 * 6 * 36 * 2);
  expect_work(of("[1, 1]", "[2, 2]", "[1, 1]"), 2.0 * 2 * 6 * 16 * 36, input + weight,
              2 * 6 * 16 * 2, true);
  expect_work(of("[2, 2]", "[1, 1]", "[2, 2]"), 2.0 * 2 * 6 * 64 * 36, input + weight,
              2 * 6 * 64 * 2);
  // Two groups: a filter sees half of the channels.
  expect_work(forward(bf16({2, 4, 8, 8}), bf16({6, 2, 3, 3}), "[1, 1]", "[1, 1]", "[1, 1]"),
              2.0 * 2 * 6 * 64 * 18, input + weight / 2, 2 * 6 * 64 * 2);
}

// ResNet-50's first layer, and the patches of a vision transformer.
TEST(Convolutions, ForwardOverImagesHasATime) {
  const auto expected = [](const TracedCall& call) {
    const auto found = recognize(call);
    EXPECT_TRUE(found && !found->bound_alone);
    EXPECT_EQ(std::string(found->kernel.kernel->name), "convolution.library");
    const auto forecast = forecast_of(*found, found->problem, h100(), {});
    EXPECT_TRUE(forecast && forecast->time);
    EXPECT_GT(forecast->time->expected_s, forecast->limit.time_s);
    return found->problem;
  };
  const Problem first =
      expected(forward(bf16({32, 3, 224, 224}), bf16({64, 3, 7, 7}), "[3, 3]", "[2, 2]", "[1, 1]"));
  EXPECT_EQ(first[0], 32);
  EXPECT_EQ(first[3], 3);
  EXPECT_EQ(first[5], 7);
  EXPECT_EQ(first[6], 2);
  expected(
      forward(bf16({64, 3, 224, 224}), bf16({768, 3, 16, 16}), "[0, 0]", "[16, 16]", "[1, 1]"));
  // cuDNN may take TF32 where PyTorch allows it.
  TracedCall single = forward({{32, 64, 56, 56}, {}, "float"}, {{64, 64, 3, 3}, {}, "float"},
                              "[1, 1]", "[1, 1]", "[1, 1]");
  EXPECT_EQ(expected(single).dtype, DType::tf32);
  single.values.back() = "False";
  EXPECT_EQ(expected(single).dtype, DType::fp32);
}

TEST(Convolutions, BackwardIsAProductForEachGradient) {
  const TensorShape gradient = bf16({2, 6, 8, 8}), input = bf16({2, 4, 8, 8}),
                    weight = bf16({6, 4, 3, 3});
  const double of_one = 2.0 * 2 * 6 * 64 * 36;
  const double dy = 2 * 6 * 64 * 2, x = 2 * 4 * 64 * 2, w = 6 * 4 * 9 * 2;
  expect_work(backward(gradient, input, weight, "[True, True, False]"), 2 * of_one, dy + x + w,
              x + w);
  expect_work(backward(gradient, input, weight, "[False, True, False]"), of_one, dy + x, w);
  expect_work(backward(gradient, input, weight, "[True, False, False]"), of_one, dy + w, x);
}

TEST(Convolutions, WhatDoesNotFitIsNotRecognized) {
  const TensorShape x = bf16({2, 4, 8, 8}), w = bf16({6, 4, 3, 3});
  EXPECT_FALSE(recognize(forward(x, w, "[1, 1]", "[0, 0]", "[1, 1]")));
  EXPECT_FALSE(recognize(forward(x, w, "[1]", "[1, 1]", "[1, 1]")));
  EXPECT_FALSE(recognize(forward(x, w, "[1, a]", "[1, 1]", "[1, 1]")));
  EXPECT_FALSE(recognize(forward(x, w, "", "[1, 1]", "[1, 1]")));
  EXPECT_FALSE(recognize(forward(x, bf16({6, 4, 9, 9}), "[0, 0]", "[1, 1]", "[1, 1]")));
  EXPECT_FALSE(recognize(forward(x, bf16({6, 4}), "[1, 1]", "[1, 1]", "[1, 1]")));
  EXPECT_FALSE(recognize(forward(bf16({2, -4, 8, 8}), w, "[1, 1]", "[1, 1]", "[1, 1]")));
  EXPECT_FALSE(recognize(backward(x, x, w, "[False, False, True]")));
  EXPECT_FALSE(recognize(backward(x, x, w, "[True, True, False]", "True")));
}

}  // namespace
}  // namespace roofcast::validation
