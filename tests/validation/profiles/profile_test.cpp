#include "validation/profiles/profile.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "hw_specs/loader.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"
#include "validation/profiles/ncu.hpp"

namespace roofcast::validation {
namespace {

const std::string kStep = std::string(ROOFCAST_EXAMPLE_TRACES) + "/gpt2_step.json.gz";

const Gpu& h100() {
  static const Gpu gpu = [] {
    const specs::Embedded& found = *specs::find_embedded("h100-sxm5");
    return specs::load(
        {"h100-sxm5", std::string(found.text), "overlay", std::string(found.overlay_text), {}});
  }();
  return gpu;
}

std::int64_t value(const Recognized& found, std::string_view name) {
  const auto parameters = found.kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return found.problem[i];
  }
  return -1;
}

TensorShape bf16(std::vector<std::int64_t> dims) {
  return {std::move(dims), {}, "c10::BFloat16"};
}

TracedCall call_of(const std::string& name, std::vector<TensorShape> inputs,
                   std::vector<std::string> values = {}) {
  TracedCall call;
  call.name = name;
  call.by_operator = true;
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].argument = i;
  call.inputs = std::move(inputs);
  call.values = std::move(values);
  call.kernels.push_back({name + "_kernel", 1});
  return call;
}

/// A profile of these calls, one after the other, each once and `each_s` long.
Profile profile_of_calls(std::vector<TracedCall> calls, double each_s) {
  Trace trace;
  for (TracedCall& call : calls) {
    call.count = 1;
    call.kernels_s = call.kernels[0].time_s = each_s;
    trace.sequence.push_back({trace.calls.size(), trace.busy_s, each_s});
    trace.calls.push_back(std::move(call));
    trace.busy_s += each_s;
    ++trace.kernels;
  }
  trace.span_s = trace.busy_s;
  return profile_of(std::move(trace), h100());
}

const Mend* find_mend(const Profile& profile, std::string_view part) {
  for (const Mend& mend : profile.mends) {
    if (mend.what.find(part) != std::string::npos) return &mend;
  }
  return nullptr;
}

TEST(Operations, AProductLiesAsItsStridesSay) {
  const auto found = recognize(call_of("aten::mm", {{{50257, 8192}, {1, 50257}, "c10::BFloat16"},
                                                    {{8192, 768}, {768, 1}, "c10::BFloat16"}}));
  ASSERT_TRUE(found && found->does == Does::product);
  EXPECT_EQ(value(*found, "m"), 50257);
  EXPECT_EQ(value(*found, "n"), 768);
  EXPECT_EQ(value(*found, "k"), 8192);
  EXPECT_EQ(value(*found, "layout"), 2);  // tn
  EXPECT_EQ(value(*found, "lda"), 50257);
}

TEST(Operations, AttentionByItsOperator) {
  const TensorShape q = bf16({2, 2048, 32, 128}), k = bf16({2, 2048, 8, 128});
  const auto found = recognize(
      call_of("flash_attn::_flash_attn_forward", {q, k, k}, {"", "", "", "0.", "0.1", "True"}));
  ASSERT_TRUE(found);
  EXPECT_EQ(value(*found, "heads"), 32);
  EXPECT_EQ(value(*found, "kv_heads"), 8);
  EXPECT_EQ(value(*found, "seq_q"), 2048);
  EXPECT_EQ(value(*found, "causal"), 1);
  EXPECT_EQ(value(*found, "pass"), 0);
  const auto backward = recognize(call_of("FlashAttnFuncBackward", {q, k, k}));
  ASSERT_TRUE(backward);
  EXPECT_EQ(value(*backward, "pass"), 1);
}

Traffic bytes_of_call(const TracedCall& call) {
  const auto found = recognize(call);
  if (!found) return {-1, -1};
  return predict(found->kernel, found->problem, h100()).work.compulsory;
}

// 64 x 32 elements of 16 bits are 4096 B.
TEST(Operations, MemoryBoundOnesMoveTheirTensors) {
  const TensorShape t = bf16({64, 32});
  const auto moves = [](const TracedCall& call, double read, double written) {
    const Traffic bytes = bytes_of_call(call);
    EXPECT_DOUBLE_EQ(bytes.read_bytes, read) << call.name;
    EXPECT_DOUBLE_EQ(bytes.write_bytes, written) << call.name;
  };
  moves(call_of("aten::add", {t, t}), 8192, 4096);
  moves(call_of("aten::add_", {t, t}), 8192, 4096);
  moves(call_of("aten::log_", {t}), 4096, 4096);
  moves(call_of("aten::addcmul_", {t, t, t}), 8192, 4096);  // grad twice
  moves(call_of("aten::copy_", {{{64, 32}, {}, "float"}, t}), 4096, 8192);
  moves(call_of("aten::fill_", {t}), 0, 4096);
  moves(call_of("aten::sum", {t}), 4096, 0);
  moves(call_of("aten::cat", {t, t}), 8192, 8192);
  // A counter: 8 B.
  moves(call_of("aten::add_", {{{}, {}, "long int"}, {{}, {}, "Scalar"}}), 8, 8);
  // Statistics first, but for inference.
  const std::vector<std::string> trains = {"", "", "", "", "", "True"};
  moves(call_of("aten::native_batch_norm", {t}, trains), 8192, 4096);
  moves(call_of("aten::native_batch_norm", {t}), 4096, 4096);
  moves(call_of("aten::native_batch_norm_backward", {t, t}), 16384, 4096);
  // Four rows of 64 B by indices of 8 B.
  moves(call_of("aten::embedding", {t, {{4}, {}, "long int"}}), 256 + 32, 256);
  // Inductor's last pointer is what it writes.
  moves(call_of("triton_poi_fused_add_0", {t, t, t, {{}, {}, "int"}}), 8192, 4096);
  // A lookup of 32 x 2 elements reads as many of the table; any other kernel reads all of it.
  const std::vector<std::string> extents = {"", "", "", "32", "2"};
  moves(call_of("triton_poi_fused_embedding_0", {t, bf16({32, 2})}, extents), 128, 128);
  moves(call_of("triton_poi_fused_mul_0", {t, bf16({32, 2})}, extents), 4096, 128);
}

TEST(Profile, ABusyDramSaysWhatItMoved) {
  const std::string table =
      "\"ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"gpu__time_duration.sum\","
      "\"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\"\n"
      "\"\",\"\",\"\",\"\",\"ns\",\"%\"\n"
      "\"0\",\"gemm\",\"(128, 1, 1)\",\"(256, 1, 1)\",\"424,448\",\"1.35\"\n";
  const Profile profile = profile_of(read_ncu({{"k.csv", table}}), h100());
  ASSERT_TRUE(profile.groups[0].place);
  EXPECT_NEAR(profile.groups[0].place->dram_bytes, 0.0135 * 3.35e12 * 424.448e-6, 1e3);
  EXPECT_FALSE(profile.groups[0].limit_s);  // no count of bytes
}

TEST(Operations, WhatIsNotKnownOrHasNoShapesIsNotRecognized) {
  EXPECT_FALSE(recognize(call_of("aten::mm", {})));
  EXPECT_FALSE(recognize(call_of("aten::no_such", {bf16({4, 4})})));
  EXPECT_FALSE(recognize(call_of("aten::add", {bf16({-4, 4})})));
  TracedCall copy = call_of("aten::copy_", {bf16({4, 4}), bf16({4, 4})});
  copy.kernels[0].name = "Memcpy HtoD (Pageable -> Device)";
  EXPECT_FALSE(recognize(copy));  // over the bus
}

TEST(KernelNames, SayWhoseAndWhat) {
  const auto is = [](std::string_view name, std::string_view library, Does does) {
    const KernelName found = kernel_name(name);
    EXPECT_EQ(found.library, library) << name;
    EXPECT_EQ(found.does, does) << name;
  };
  is("nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", "cuBLAS", Does::product);
  is("ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", "cuBLAS", Does::product);
  is("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1>(x)",
     "CUTLASS", Does::product);
  is("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26", "cuDNN",
     Does::attention);
  is("void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>(Flash_fwd_params)",
     "FlashAttention", Does::attention);
  is("triton_poi_fused_add_gelu_0", "Inductor", Does::elementwise);
  is("triton_red_fused__log_softmax_1", "Inductor", Does::rows);
  is("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)",
     "PyTorch", Does::elementwise);
  is("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10>(float*)", "PyTorch",
     Does::rows);
  is("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "NCCL", Does::collective);
  is("my_own_kernel", "", Does::unknown);
  EXPECT_TRUE(kernel_name("flash_bwd_dq_dk_dv_loop").backward);
  EXPECT_EQ(brief_kernel_name("void my::space::own<float, 4>(float*, int)"), "own");
  EXPECT_EQ(brief_kernel_name("plain"), "plain");
}

// The same step with 50304 takes 16.1 ms of kernels (measured); without the profiler 28.2 and 15.4
// ms.
TEST(Profile, FindsThePaddedVocabularyFirst) {
  const Profile profile = profile_of(read_trace(kStep), h100());
  EXPECT_GT(profile.recognized_s, 0.99 * profile.trace.busy_s);
  EXPECT_GT(profile.compared_s, 0.98 * profile.trace.busy_s);
  EXPECT_NEAR(profile.expected_s / profile.compared_s, 1, 0.1);
  ASSERT_FALSE(profile.mends.empty());
  const Mend& first = profile.mends.front();
  EXPECT_NE(first.what.find("50257 to 50304"), std::string::npos) << first.what;
  EXPECT_EQ(first.calls, 3);
  EXPECT_NEAR(profile.trace.busy_s / 28.2e-3, 1, 0.1);
  EXPECT_NEAR(first.total_after_s / 15.4e-3, 1, 0.1);
  for (const CallGroup& group : profile.groups) {
    EXPECT_FALSE(group.impossible()) << group.call.name;
  }
}

// Scores of [16, 1024, 1024] in bf16 are 32 MB: moved eight times, against a pass that moves 8 MB.
TEST(Profile, StandardAttentionIsReplacedByOnePass) {
  const TensorShape q = bf16({16, 1024, 64}), k = bf16({16, 64, 1024}), s = bf16({16, 1024, 1024}),
                    v = bf16({16, 1024, 64});
  const Profile profile = profile_of_calls(
      {call_of("aten::bmm", {q, k}), call_of("aten::mul", {s}), call_of("aten::add", {s, s}),
       call_of("aten::_softmax", {s}, {"", "-1", "False"}), call_of("aten::bmm", {s, v})},
      100e-6);
  const Mend* mend = find_mend(profile, "one pass");
  ASSERT_NE(mend, nullptr);
  EXPECT_EQ(mend->calls, 5);
  EXPECT_GT(mend->saved_s, 400e-6);
  EXPECT_LT(mend->saved_s, 500e-6);
  EXPECT_DOUBLE_EQ(mend->total_after_s, 500e-6 - mend->saved_s);
  EXPECT_EQ(find_mend(profile, "chains"), nullptr);  // what is in the pass is no chain besides
}

// Three maps over one shape: 5 reads and 3 writes as they are; 3 reads and a write in one kernel.
TEST(Profile, ChainsOfMapsAreFused) {
  const TensorShape t = bf16({1 << 26});
  const Profile profile = profile_of_calls(
      {call_of("aten::add", {t, t}), call_of("aten::mul", {t, t}), call_of("aten::gelu", {t})},
      150e-6);
  const Mend* mend = find_mend(profile, "chains");
  ASSERT_NE(mend, nullptr);
  EXPECT_EQ(mend->calls, 3);
  EXPECT_NEAR(mend->saved_s, 450e-6 * (1 - 4.0 / 8), 25e-6);
  EXPECT_EQ(find_mend(profile_of_calls({call_of("aten::add", {t, t}),
                                        call_of("aten::mul", {bf16({64}), bf16({64})})},
                                       150e-6),
                      "chains"),
            nullptr);  // other shapes
}

TEST(Profile, ProductsInFp32AreNarrowed) {
  const TensorShape a{{4096, 4096}, {}, "float"};
  const Profile profile = profile_of_calls({call_of("aten::mm", {a, a})}, 3e-3);
  const Mend* mend = find_mend(profile, "bf16");
  ASSERT_NE(mend, nullptr);
  EXPECT_GT(mend->saved_s, 2.6e-3);  // at most 0.25 ms in bf16
}

// 150 blocks on 132 SMs.
TEST(Profile, APoorLastWaveIsTold) {
  TracedCall call = call_of("aten::mm", {bf16({4096, 4096}), bf16({4096, 4096})});
  call.kernels[0].launch = Launch{{150, 1, 1}, {384, 1, 1}, {1, 1, 1}, 168, 200 << 10};
  const Profile profile = profile_of_calls({call}, 300e-6);
  const Mend* mend = find_mend(profile, "last waves");
  ASSERT_NE(mend, nullptr);
  EXPECT_NEAR(mend->saved_s, 300e-6 * (1 - 150.0 / 264), 1e-9);
}

TEST(Profile, WaitingIsMendedByAGraph) {
  Trace trace;
  TracedCall call = call_of("aten::add", {bf16({64}), bf16({64})});
  call.count = call.kernels[0].calls = 10;
  call.kernels_s = call.kernels[0].time_s = 20e-6;
  trace.calls = {call};
  for (int i = 0; i < 10; ++i) trace.sequence.push_back({0, i * 10e-6, 2e-6});
  trace.kernels = 10;
  trace.busy_s = 20e-6;
  trace.span_s = 92e-6;
  const Profile profile = profile_of(trace, h100());
  const Mend* mend = find_mend(profile, "graph");
  ASSERT_NE(mend, nullptr);
  const double in_graph_s = 10 * *h100().sustained.graph_launch_s;
  EXPECT_NEAR(mend->saved_s, 72e-6 - in_graph_s, 1e-12);
  EXPECT_NEAR(mend->total_after_s, 20e-6 + in_graph_s, 1e-12);
}

// 1 GB read and 1 GB written take at least 2 GB - 50 MB at 3.35 TB/s, 0.58 ms.
TEST(Profile, CountersGiveTheLimitOfAnyKernel) {
  const std::string table =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"gpu__time_duration.sum\","
      "\"dram__bytes_read.sum\",\"dram__bytes_write.sum\",\"launch__registers_per_thread\","
      "\"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"us\",\"Gbyte\",\"Gbyte\",\"register/thread\",\"inst\"\n"
      "\"0\",\"1\",\"mine\",\"(256, 1, 1)\",\"(65536, 1, "
      "1)\",\"800\",\"1\",\"1\",\"16\",\"1000000000\"\n"
      "\"1\",\"1\",\"nvjet_sm90_x\",\"(256, 1, 1)\",\"(65536, 1, "
      "1)\",\"400\",\"0.1\",\"0.1\",\"16\",\"0\"\n";
  const Profile profile = profile_of(read_ncu({{"k.csv", table}}), h100());
  ASSERT_EQ(profile.groups.size(), 2U);
  const CallGroup& mine = profile.groups[0];
  EXPECT_EQ(mine.call.name, "mine");
  EXPECT_EQ(mine.does, Does::unknown);
  EXPECT_NEAR(*mine.limit_s, 0.582e-3, 0.002e-3);
  ASSERT_TRUE(mine.place && mine.place->counted);
  EXPECT_DOUBLE_EQ(mine.place->flops / mine.place->dram_bytes, 1);  // 2 GFLOP over 2 GB
  ASSERT_TRUE(mine.waves);
  EXPECT_NEAR(mine.waves->count, 65536.0 / (132 * 8), 1e-9);
  const CallGroup& product = profile.groups[1];
  EXPECT_EQ(product.lacks, Lacks::shape);
  EXPECT_FALSE(product.expected_s);
  EXPECT_TRUE(product.limit_s);
  EXPECT_NEAR(profile.no_shape_s, 400e-6, 1e-12);
  EXPECT_NEAR(profile.recognized_s, 400e-6, 1e-12);
}

// Tensor cores busy for 80% of 400 us at 1,980 MHz: the limit is these 320 us at the highest clock,
// and the FLOPs of that time are 80% of the peak.
TEST(Profile, BusyTensorCoresGiveTheLimitOfAProductWithoutShape) {
  const std::string table =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid "
      "Size\",\"gpu__time_duration.sum\",\"gpc__cycles_elapsed.avg.per_second\","
      "\"dram__bytes_read.sum\",\"dram__bytes_write.sum\",\"launch__registers_per_thread\","
      "\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed\"\n"
      "\"\",\"\",\"\",\"\",\"\",\"us\",\"hz\",\"Gbyte\",\"Gbyte\",\"register/thread\",\"%\"\n"
      "\"0\",\"1\",\"nvjet_sm90_x\",\"(256, 1, 1)\",\"(132, 1, "
      "1)\",\"400\",\"1980000000\",\"0.1\",\"0.1\",\"16\",\"80\"\n";
  const Profile profile = profile_of(read_ncu({{"k.csv", table}}), h100());
  ASSERT_EQ(profile.groups.size(), 1U);
  const CallGroup& product = profile.groups[0];
  ASSERT_TRUE(product.limit_s && product.place);
  constexpr double kClockHz = 1.98e9;
  EXPECT_NEAR(*product.limit_s, 320e-6 * kClockHz / *limit_clock_hz(h100()), 1e-9);
  const double peak = *device_rate(h100().sm.tensor_flop_per_clk[DType::bf16], h100(), kClockHz);
  EXPECT_NEAR(product.place->flops / 400e-6, 0.8 * peak, 1e-6 * peak);
  EXPECT_FALSE(product.expected_s);
}

}  // namespace
}  // namespace roofcast::validation
