#pragma once
// What cuBLASLt does to a product's sums before it stores them (cublasLtEpilogue_t, CUDA 13): its
// epilogues RELU_BIAS, GELU_BIAS, their AUX forms and DGELU, and C added by beta = 1. It has no
// SwiGLU, and none that reads C with an activation.
#include <array>
#include <cstdint>
#include <string_view>

#include "model/types/kernel_model.hpp"
#include "model/types/plan.hpp"
#include "model/types/work.hpp"

namespace roofcast::gemm {

enum Epilogue : std::int64_t {
  kPlain,
  kBias,
  kRelu,
  kGelu,
  kReluKept,
  kGeluKept,
  kGeluGradient,
  kResidual
};

inline constexpr std::array<std::string_view, 8> kEpilogueNames = {
    "none", "bias", "relu", "gelu", "relu_aux", "gelu_aux", "dgelu", "residual"};

/// Arithmetic and compulsory bytes of the epilogue of one product: a matrix of C's size read
/// (dgelu: what gelu_aux kept; residual: C) or written (gelu_aux: before the activation; relu_aux:
/// a bit an element), and a vector of n for all but dgelu and residual.
Work epilogue_work(std::int64_t epilogue, double m, double n, double result_bytes);

/// Adds it, `batch` times, to the launch that stores C. `array` and the next are free numbers.
void add_epilogue(Plan& plan, std::int64_t epilogue, const Work& of_all, ArrayId array);

}  // namespace roofcast::gemm
