#pragma once
// A kernel with a parameter of every kind, for tests of how values are written and read.
#include <array>

#include "model/predict.hpp"

namespace roofcast::testing {

inline constexpr std::array<std::string_view, 2> kPasses = {"forward", "backward"};

inline constexpr std::array kNamedParameters = {
    Parameter{"n", "elements", 1, 1 << 20, {}}, choice("pass", "which way", kPasses, 0),
    Parameter{.name = "expression", .meaning = "what to compute: x + y", .is_text = true},
    setting("threads", "threads a block", 32, 1024, 256)};

inline constexpr std::array kNamedTypes = {DType::fp32};

inline constexpr std::array kNamedVariants = {
    KernelModel{"named.one", "a test's own", kNamedParameters, kNamedTypes, nullptr, {}}};

inline constexpr KernelFamily kNamedFamily = {"named", "a test's own", kNamedParameters,
                                              kNamedTypes, kNamedVariants};

inline const KernelRef kNamed{&kNamedFamily, &kNamedVariants[0]};

}  // namespace roofcast::testing
