#include "validation/profiles/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A trace of an H100, PyTorch 2.11: four layers of GPT-2, batch 8 x 1024, eager bf16, vocabulary
// 50257.
const std::string kStep = std::string(ROOFCAST_EXAMPLE_TRACES) + "/gpt2_step.json.gz";

Trace read(const std::string& text, std::optional<int> device = {}) {
  return read_trace(*bytes_of(text), "t.json", device);
}

std::string refusal(const std::string& text) {
  try {
    (void)read(text);
  } catch (const specs::SpecError& error) {
    return error.what();
  }
  return "";
}

std::string events(const std::string& list) {
  return R"({"deviceProperties": [{"id": 0, "name": "first"}, {"id": 1, "name": "second"}],)"
         R"("note": "a [\"{", "traceEvents": [)" +
         list + "]}";
}

std::string kernel(const std::string& name, const std::string& args, const std::string& times) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "tid": 7, )" + times +
         R"(, "args": {)" + args + "}}";
}

std::string op(const std::string& name, const std::string& args, const std::string& times) {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "tid": 1, )" + times +
         R"(, "args": {)" + args + "}}";
}

const std::string kShapes =
    R"("Input Dims": [[64, 32], [32, 16]], "Input Strides": [[32, 1], [1, 32]], )"
    R"("Input type": ["c10::Half", "c10::Half"], "Concrete Inputs": ["", "True"])";

TEST(Trace, KernelsBelongToTheOperatorsThatLaunchedThem) {
  const Trace trace = read_trace(kStep);
  EXPECT_EQ(trace.device, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(trace.kernels, 598 + 47);  // with memsets
  EXPECT_NEAR(trace.busy_s, 29.08e-3, 0.01e-3);
  EXPECT_GT(trace.span_s, trace.busy_s);
  std::int64_t products = 0, calls = 0;
  double time_s = 0;
  for (const TracedCall& call : trace.calls) {
    ASSERT_FALSE(call.kernels.empty());
    calls += call.count;
    time_s += call.kernels_s;
    if (call.name != "aten::mm") continue;
    products += call.count;
    ASSERT_EQ(call.inputs.size(), 2U);
    EXPECT_EQ(call.inputs[0].type, "c10::BFloat16");
  }
  EXPECT_EQ(products, 35);
  EXPECT_EQ(trace.sequence.size(), static_cast<std::size_t>(calls));
  EXPECT_NEAR(time_s, trace.busy_s, 1e-9);
}

TEST(Trace, EqualCallsAreOneWithItsShapes) {
  const Trace trace =
      read(events(op("aten::mm", R"("External id": 5, )" + kShapes, R"("ts": 1, "dur": 2)") + "," +
                  op("aten::mm", R"("External id": 6, )" + kShapes, R"("ts": 5, "dur": 2)") + "," +
                  kernel("gemm", R"("External id": 5, "grid": [4, 2, 1], "block": [128, 1, 1],
             "registers per thread": 96, "shared memory": 1024, "est. achieved occupancy %": 25)",
                         R"("ts": 10, "dur": 3)") +
                  "," +
                  kernel("gemm", R"("External id": 6, "grid": [4, 2, 1], "block": [128, 1, 1],
             "registers per thread": 96, "shared memory": 1024, "est. achieved occupancy %": 25)",
                         R"("ts": 20, "dur": 4)")));
  ASSERT_EQ(trace.calls.size(), 1U);
  const TracedCall& call = trace.calls[0];
  EXPECT_EQ(call.count, 2);
  EXPECT_DOUBLE_EQ(call.kernels_s, 7e-6);
  EXPECT_THAT(call.inputs[1].dims, ElementsAre(32, 16));
  EXPECT_THAT(call.inputs[1].strides, ElementsAre(1, 32));
  EXPECT_THAT(call.values, ElementsAre("", "True"));
  ASSERT_EQ(call.kernels.size(), 1U);
  EXPECT_EQ(call.kernels[0].calls, 2);
  EXPECT_EQ(call.kernels[0].launch->blocks(), 8);
  EXPECT_EQ(call.kernels[0].launch->registers, 96);
  EXPECT_DOUBLE_EQ(*call.kernels[0].achieved_occupancy, 0.25);
  EXPECT_DOUBLE_EQ(trace.span_s, 14e-6);
}

// A kernel without an operator's external id belongs to the operator of its launching call's id,
// else to the innermost operator during that call.
TEST(Trace, CorrelationLeadsToTheOperator) {
  const std::string call =
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "tid": 1, "ts": 2,
          "dur": 1, "args": {"correlation": 9)";
  const std::string launched = kernel("k", R"("correlation": 9)", R"("ts": 10, "dur": 3)");
  const std::string outer = op("outer", R"("External id": 4)", R"("ts": 0, "dur": 100)");
  const std::string inner =
      op("aten::mm", R"("External id": 5, )" + kShapes, R"("ts": 1, "dur": 5)");
  EXPECT_EQ(read(events(call + R"(, "External id": 5}},)" + launched + "," + inner)).calls[0].name,
            "aten::mm");
  EXPECT_EQ(read(events(call + "}}," + launched + "," + outer + "," + inner)).calls[0].name,
            "aten::mm");
  EXPECT_EQ(read(events(call + "}}," + launched)).calls[0].name, "k");
}

// A backward function without recorded shapes takes those of the forward function with its sequence
// number.
TEST(Trace, SequenceNumbersLeadToTheForwardShapes) {
  const Trace trace =
      read(events(op("FlashAttnFunc", R"("External id": 3, "Sequence number": 77, )" + kShapes,
                     R"("ts": 1, "dur": 5)") +
                  "," +
                  op("FlashAttnFuncBackward", R"("External id": 8, "Sequence number": 77)",
                     R"("ts": 50, "dur": 5)") +
                  "," + kernel("flash_bwd", R"("External id": 8)", R"("ts": 60, "dur": 3)")));
  EXPECT_EQ(trace.calls[0].name, "FlashAttnFuncBackward");
  ASSERT_EQ(trace.calls[0].inputs.size(), 2U);
  EXPECT_THAT(trace.calls[0].inputs[0].dims, ElementsAre(64, 32));
}

// A counter of steps is a tensor without dimensions: its operator keeps its own inputs.
TEST(Trace, TensorsWithoutDimensionsWereRecorded) {
  const Trace trace =
      read(events(op("aten::batch_norm", R"("External id": 3, "Sequence number": 7, )" + kShapes,
                     R"("ts": 1, "dur": 9)") +
                  "," +
                  op("aten::add_",
                     R"("External id": 4, "Sequence number": 7, "Input Dims": [[], [], []],
                   "Input type": ["long int", "Scalar", "Scalar"])",
                     R"("ts": 2, "dur": 1)") +
                  "," + kernel("add", R"("External id": 4)", R"("ts": 20, "dur": 3)")));
  EXPECT_EQ(trace.calls[0].name, "aten::add_");
  ASSERT_EQ(trace.calls[0].inputs.size(), 3U);
  EXPECT_TRUE(trace.calls[0].inputs[0].dims.empty());
}

TEST(Trace, KernelsOfACompiledGraphKeepTheirNames) {
  const Trace trace = read(events(
      op("CompiledFunction", R"("External id": 3, )" + kShapes, R"("ts": 1, "dur": 9)") + "," +
      op("triton_poi_fused_add_0", R"("External id": 4, )" + kShapes, R"("ts": 2, "dur": 1)") +
      "," + kernel("triton_poi_fused_add_0", R"("External id": 4)", R"("ts": 20, "dur": 3)") + "," +
      kernel("triton_poi_fused_mul_1", R"("External id": 3)", R"("ts": 30, "dur": 3)")));
  ASSERT_EQ(trace.calls.size(), 2U);
  EXPECT_EQ(trace.calls[0].inputs.size(), 2U);
  EXPECT_EQ(trace.calls[1].name, "triton_poi_fused_mul_1");
  EXPECT_TRUE(trace.calls[1].inputs.empty());
}

TEST(Trace, ListsOfTensorsShareTheirArgument) {
  const Trace trace = read(events(
      op("aten::_fused_adamw_",
         R"("External id": 3, "Input Dims": [[[8, 4], [4]], [[8, 4], [4]], []],
            "Input type": ["TensorList", "TensorList", "Scalar"])",
         R"("ts": 1, "dur": 9)") +
      "," + kernel("multi_tensor_apply_kernel", R"("External id": 3)", R"("ts": 20, "dur": 3)")));
  ASSERT_EQ(trace.calls[0].inputs.size(), 5U);
  EXPECT_EQ(trace.calls[0].inputs[1].argument, 0U);
  EXPECT_EQ(trace.calls[0].inputs[2].argument, 1U);
  EXPECT_THAT(trace.calls[0].inputs[3].dims, ElementsAre(4));
}

TEST(Trace, RefusesWhatIsNoTrace) {
  EXPECT_THROW(read_trace("nosuch.json"), specs::SpecError);
  EXPECT_THROW(read_trace(::testing::TempDir()), specs::SpecError);  // a folder
  EXPECT_THAT(refusal(""), HasSubstr("nothing"));
  EXPECT_THAT(refusal("{}"), HasSubstr("kernels"));
  EXPECT_THAT(refusal("[1, 2]"), HasSubstr("kernels"));
  EXPECT_THAT(refusal(R"({"traceEvents": []})"), HasSubstr("ProfilerActivity.CUDA"));
  EXPECT_THAT(refusal(R"({"traceEvents": [{"cat": 3, "name": []}]})"), HasSubstr("/0"));
  EXPECT_THAT(
      refusal(R"({"traceEvents": [{"ph": "M"}, {"cat": "kernel", "name": "k", "ts": "soon"}]})"),
      HasSubstr("/1"));
  EXPECT_THAT(refusal("{\"traceEvents\": ]"), HasSubstr("brackets"));
  for (const char* time : {"-5", "1e300", "1e400", "null", "\"5\""}) {
    EXPECT_THAT(refusal(events(kernel("k", "", R"("ts": 1, "dur": )" + std::string(time)))),
                HasSubstr("/0: expected a kernel's time"))
        << time;
  }
  EXPECT_THAT(refusal(events(kernel("k", "", R"("ts": 1)"))), HasSubstr("a kernel's time"));
  EXPECT_EQ(refusal(events(kernel("k", "", R"("ts": 1, "dur": 0)"))), "");
}

TEST(Trace, SaysHowFarATruncatedTraceGoes) {
  const std::string whole = events(kernel("a", "", R"("ts": 1, "dur": 2)") + "," +
                                   kernel("b", "", R"("ts": 4, "dur": 2)"));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  }
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 5)), HasSubstr("after 1 whole events"));
}

TEST(Trace, DevicesAreNotMixed) {
  const std::string mixed = events(kernel("a", R"("device": 0)", R"("ts": 1, "dur": 2)") + "," +
                                   kernel("b", R"("device": 1)", R"("ts": 4, "dur": 2)"));
  EXPECT_THAT(refusal(mixed), HasSubstr("0, 1"));
  EXPECT_EQ(read(mixed, 1).calls[0].name, "b");
  EXPECT_EQ(read(mixed, 1).device, "second");
  EXPECT_THROW(read(mixed, 2), specs::SpecError);
}

TEST(Trace, IsReadInPiecesAndUnpacked) {
  std::string list = kernel("first", "", R"("ts": 1, "dur": 2)");
  for (int i = 0; i < 60'000; ++i) {  // more than one piece of 4 MiB
    list += "," + kernel("k" + std::to_string(i % 7), "", R"("ts": 4, "dur": 2)");
  }
  const std::string path = ::testing::TempDir() + "roofcast_trace_test.json.gz";
  const std::string text = events(list);
  gzFile file = gzopen(path.c_str(), "wb1");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  const Trace trace = read_trace(path);
  EXPECT_EQ(trace.kernels, 60'001);
  EXPECT_EQ(trace.calls.size(), 8U);
  std::filesystem::resize_file(path, 1000);
  EXPECT_THROW(read_trace(path), specs::SpecError);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace roofcast::validation
