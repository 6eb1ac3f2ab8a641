#pragma once
// The register of framework and service costs beyond a step's kernels (model/transformer/).
#include <array>

#include "model/constants/constant.hpp"

namespace roofcast::transformer::constants {

inline constexpr std::string_view kStepsFit =
    "training_mpt.csv (mosaicml/llm-foundry), rows of even position, 8 to 512 GPUs, all kinds "
    "together: fit_steps, mean |log error| of time";

inline constexpr Constant kAttentionShare =
    fitted("step_attention_share", 0.7712, "",
           "added time of attention kernels in training steps of 2023 ÷ their time today",
           kStepsFit, "2026-11-30");
inline constexpr Constant kLayerSeconds =
    fitted("step_layer_s", 1.595e-3, "s",
           "time added per layer and pass of eager FSDP training in 2023: hooks, casts, kernels of "
           "NCCL that wait on their SMs for other GPUs",
           kStepsFit, "2026-11-30");

inline constexpr Constant kHostLaunchSeconds =
    fitted("step_host_launch_s", 31e-6, "s",
           "time of PyTorch's host for a call, such as a GEMM; twice that where it also records "
           "the operation for the backward pass",
           "transformer-steps-2026-11-27 of both GPUs in validation/measured, eager training and "
           "prefill, rows of even position: by hand, mean |error| of time",
           "2026-11-27");

inline constexpr Constant kTransferShare =
    measured("step_transfer_share", 0.76, "", "rate of a transfer beside a kernel ÷ its rate alone",
             "overlap-2026-11-25 in validation/measured: median of collectives of 64 and 256 MB "
             "beside products of 2048 and 4096",
             "2026-11-27");

inline constexpr Constant kRequestSeconds = fitted(
    "serving_request_s", 19e-6, "s",
    "time per request and step of a service: scheduling, sampling and sending while the GPU waits",
    "serving.csv (ai-dynamo/aiconfigurator), rows of even position of its first GPU, three models "
    "and systems together: fit_serving, mean |error| of time",
    "2026-11-27");

inline constexpr std::string_view kCollectivesFit =
    "collectives_nccl.csv (ai-dynamo/aiconfigurator), rows of even position, NCCL 2.27 to 2.29, "
    "all GPUs together: fit_collectives, mean |log error| of time";

/// A ratio of that fit.
constexpr Constant of_nccl(std::string_view name, double value, std::string_view meaning) {
  return fitted(name, value, "", meaning, kCollectivesFit, "2026-11-23");
}
inline constexpr Constant kLowLatencyBytes =
    of_nccl("collective_ll_bytes", 24.65, "time per byte of NCCL's LL protocol ÷ Simple's");
inline constexpr Constant kLine128Start =
    of_nccl("collective_ll128_start", 1.307, "start cost of NCCL's LL128 ÷ LL's");
inline constexpr Constant kLine128Step =
    of_nccl("collective_ll128_step", 1.070, "cost of a dependent step of LL128 ÷ LL's");
inline constexpr Constant kLine128Bytes =
    of_nccl("collective_ll128_bytes", 1.922, "time per byte of LL128 ÷ Simple's");
inline constexpr Constant kSimpleStart =
    of_nccl("collective_simple_start", 3.720, "start cost of NCCL's Simple ÷ LL's");
inline constexpr Constant kSimpleStep =
    of_nccl("collective_simple_step", 1.283, "cost of a dependent step of Simple ÷ LL's");
inline constexpr Constant kOwnByteShare =
    of_nccl("collective_own_share", 0.416,
            "time per byte that a GPU copies within itself ÷ per byte on the link");
inline constexpr Constant kAlltoallStart =
    of_nccl("collective_alltoall_start", 1.378,
            "start cost of an all-to-all, one channel per peer, ÷ a ring's");

inline constexpr std::array kAll = {
    kAttentionShare,  kLayerSeconds, kHostLaunchSeconds, kTransferShare, kRequestSeconds,
    kLowLatencyBytes, kLine128Start, kLine128Step,       kLine128Bytes,  kSimpleStart,
    kSimpleStep,      kOwnByteShare, kAlltoallStart};

}  // namespace roofcast::transformer::constants
