#pragma once
// The last linear layer and the loss over its vocabulary in one: logits of a chunk of tokens at a
// time, which their gradients replace, and which never lie in memory for all tokens.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/kernels/common/rows.hpp"
#include "model/libraries/layer.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::layer {

/// Tokens of a chunk, by Liger-Kernel's fused linear cross-entropy (arXiv 2410.10989, section 3.2):
/// as many as make a chunk's logits about as large as the layer's input, the next power of two.
std::int64_t loss_chunk(std::int64_t tokens, std::int64_t vocabulary, std::int64_t hidden);

enum LossParameter : std::size_t { kHidden = 3, kLossTileM, kLossTileN };

LaunchSequence plan_linear_loss(const Problem& problem, const Gpu& gpu);
std::vector<Problem> linear_loss_candidates(const Problem& problem, const Gpu& gpu);
Work linear_loss_work(const Problem& problem);
IoComplexity linear_loss_io(const Problem& problem, double compulsory_bytes, double on_chip_bytes);

inline constexpr std::int64_t kMostHidden = std::int64_t{1} << 20;
inline constexpr std::array<std::string_view, 2> kLossPasses = {"forward", "backward"};
inline constexpr std::array kLossParameters = {
    roofcast::Parameter{"rows", "tokens", 1, rows::kMaxRows, std::nullopt},
    roofcast::Parameter{"cols", "words of the vocabulary", 1, rows::kMaxCols, std::nullopt},
    choice("pass", "the loss alone, or the loss and the gradients of input and weights",
           kLossPasses, kForward),
    roofcast::Parameter{"hidden", "elements of a token", 64, kMostHidden, std::nullopt},
    setting("tile_m", "rows of the products' tiles; 0: to choose", kToChoose, 512, kToChoose),
    setting("tile_n", "columns of the products' tiles; 0: to choose", kToChoose, 512, kToChoose)};
inline constexpr std::array<std::size_t, 2> kLossTile = {kLossTileM, kLossTileN};
inline constexpr std::array kLossTypes = {DType::bf16, DType::fp16};

inline constexpr KernelModel kLinearLoss = {
    .name = "layer.linear_cross_entropy",
    .summary = "the vocabulary's product and the loss, a chunk of tokens at a time",
    .parameters = kLossParameters,
    .dtypes = kLossTypes,
    .plan = plan_linear_loss,
    .candidates = linear_loss_candidates,
    .own_choice = kLossTile,
    .work = linear_loss_work,
    .io = linear_loss_io};

}  // namespace roofcast::layer
