#pragma once
// This project's variants of attention, for the family's table.
#include <array>
#include <vector>

#include "model/kernels/attention/decode.hpp"
#include "model/kernels/attention/flash.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::attention {

LaunchSequence plan_standard(const Problem&, const Gpu&);
LaunchSequence plan_flash2(const Problem&, const Gpu&);
LaunchSequence plan_flash3(const Problem&, const Gpu&);
LaunchSequence plan_decode(const Problem&, const Gpu&);
std::vector<Problem> decode_candidates(const Problem&, const Gpu&);

/// Forward leaves the log-sum-exp of each row too, for backward.
Work training_work(const Problem&);
IoComplexity standard_io(const Problem&, double compulsory_bytes, double on_chip_bytes);

/// Throws InputError where this project's kernels do not compute the problem: on a device without
/// tensor cores for its type, for rows that are no multiples of 16 bytes, or where a mask hides all
/// keys from a query.
void check_computable(const Problem&, const Shape&, const Gpu&);

/// attention.standard, after the family's: what runs between the products beside softmax.
enum StandardParameter : std::size_t { kPasses = 8 };
enum Passes : std::int64_t {
  kPlain,        ///< forward keeps the log-sum-exp, backward computes S again
  kMaskDropout,  ///< as frameworks ran it: a mask is added to S, dropout multiplies P, P is kept
};
inline constexpr std::array<std::string_view, 2> kPassesNames = {"plain", "mask_dropout"};

inline constexpr std::array kStandardParameters = with_own(
    kShape, choice("passes", "mask_dropout: launches that add a mask to S and drop of P; P is kept",
                   kPassesNames, kPlain));
inline constexpr std::array kFlashParameters = with_own(
    kShape,
    choice("dq", "backward: blocks of keys add to dQ in any order, or a second pass sums it",
           kDqNames, kAtomic));
inline constexpr std::array kDecodeParameters =
    with_own(kShape, setting("splits", "parts of the keys, each a block's; 0: to choose", kToChoose,
                             decoding::kMostSplits, kToChoose));

inline constexpr KernelModel kStandard = {
    .name = "attention.standard",
    .summary = "S = Q·Kᵀ, softmax and P·V one after the other: S and P in memory",
    .parameters = kStandardParameters,
    .dtypes = kTypes,
    .plan = plan_standard,
    .work = training_work,
    .io = standard_io};
inline constexpr KernelModel kFlash2 = {
    .name = "attention.flash2",
    .summary = "online softmax, K and V pass in tiles: mma.sync, cp.async",
    .parameters = kFlashParameters,
    .dtypes = kTypes,
    .plan = plan_flash2,
    .work = training_work};
inline constexpr KernelModel kFlash3 = {
    .name = "attention.flash3",
    .summary = "the same by wgmma and TMA: softmax while the tensor cores multiply",
    .parameters = kFlashParameters,
    .dtypes = kTypes,
    .plan = plan_flash3,
    .work = training_work};
inline constexpr KernelModel kDecode = {
    .name = "attention.decode",
    .summary = "few queries against a long cache: heads of a group share K and V, keys are split",
    .parameters = kDecodeParameters,
    .dtypes = kTypes,
    .plan = plan_decode,
    .candidates = decode_candidates,
    .work = training_work};

}  // namespace roofcast::attention
