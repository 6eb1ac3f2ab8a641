#include "model/kernels/elementwise/elementwise.hpp"

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::elementwise {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

/// The launches of the unfused variant, in order.
using Kernels = std::array<std::string_view, 9>;

/// A function as one fused kernel and as several unfused ones, in fp32 and in 16-bit types.
struct Function {
  map::Operation fused, fused16;
  std::string_view unfused;
  Kernels kernels, kernels16;
};

constexpr Function in_all_types(const map::Operation& fused, std::string_view unfused,
                                const Kernels& kernels) {
  return {fused, fused, unfused, kernels, kernels};
}

// Operations: arrays read, arrays written, {FLOPs, special functions, conversions} of an element. In
// fp32 they are accurate to the last bits: expm1, and the polynomials of sin and cos after one
// reduction of the angle. In 16-bit types they use the special-function unit. Counted in the PTX of
// CUDA 13.0, without the paths for huge angles. The counters count no FLOP for a maximum.
constexpr Function kReluFunction =
    in_all_types({1, 1, {0}, "elementwise::Relu"}, kReluUnfused, {"elementwise::Relu"});
constexpr Function kGeluFunction =
    in_all_types({1, 1, {6, 2}, "elementwise::Gelu"}, kGeluUnfused,
                 {"elementwise::Square", "elementwise::Multiply", "elementwise::TimesCubic",
                  "elementwise::Add", "elementwise::TimesSlope", "elementwise::Tanh",
                  "elementwise::AddOne", "elementwise::Half", "elementwise::Multiply"});
constexpr Function kFmaFunction = in_all_types({3, 1, {2}, "elementwise::Fma"}, kFmaUnfused,
                                               {"elementwise::Multiply", "elementwise::Add"});
constexpr Function kEluFunction = {
    .fused = {1, 1, {23, 1, 1}, "elementwise::Elu"},
    .fused16 = {1, 1, {5, 1}, "elementwise::Elu16"},
    .unfused = kEluUnfused,
    .kernels = {"elementwise::Relu", "elementwise::Exp", "elementwise::MinusOne",
                "elementwise::Min0", "elementwise::Add"},
    .kernels16 = {"elementwise::Relu", "elementwise::Exp16", "elementwise::MinusOne",
                  "elementwise::Min0", "elementwise::Add"}};
constexpr Function kSincosFunction = {
    .fused = {1, 1, {27, 0, 2}, "elementwise::Sincos"},
    .fused16 = {1, 1, {12, 2}, "elementwise::Sincos16"},
    .unfused = kSincosUnfused,
    .kernels = {"elementwise::Sin", "elementwise::Square", "elementwise::Cos",
                "elementwise::Square", "elementwise::Add"},
    .kernels16 = {"elementwise::Sin16", "elementwise::Square", "elementwise::Cos16",
                  "elementwise::Square", "elementwise::Add"}};

template <const Function& kFunction, bool kFused>
LaunchSequence plan(const Problem& problem, const Gpu& /*gpu*/) {
  const bool wide = problem.dtype == DType::fp32;
  if (kFused) return launch_of(map::plan(wide ? kFunction.fused : kFunction.fused16, problem));
  return chain_plans(expression::eager(expression::parse(kFunction.unfused)),
                     wide ? kFunction.kernels : kFunction.kernels16, problem);
}

template <const Function& kFunction>
Work work(const Problem& problem) {
  map::Operation least = kFunction.fused16;
  least.kernel = {};  // the work does not depend on the compiled kernel
  return total_work(map::plan(least, problem));
}

template <const Function& kFunction>
constexpr std::array<KernelModel, 2> variants(
    std::string_view unfused, std::string_view unfused_summary, std::string_view fused,
    std::string_view fused_summary = "one kernel, intermediates in registers") {
  return {{{unfused, unfused_summary, map::kParameters, kTypes, plan<kFunction, false>},
           {fused, fused_summary, map::kParameters, kTypes, plan<kFunction, true>}}};
}

constexpr auto kReluVariants =
    variants<kReluFunction>("elementwise.relu.unfused", "one kernel: relu is a single operation",
                            "elementwise.relu.fused", "one kernel: relu is a single operation");
constexpr auto kGeluVariants = variants<kGeluFunction>(
    "elementwise.gelu.unfused", "nine kernels, one an operation, as an eager framework runs it",
    "elementwise.gelu.fused");
constexpr auto kEluVariants = variants<kEluFunction>(
    "elementwise.elu.unfused", "five kernels, one an operation, as an eager framework runs it",
    "elementwise.elu.fused");
constexpr auto kSincosVariants = variants<kSincosFunction>(
    "elementwise.sincos.unfused", "five kernels, one an operation, as an eager framework runs it",
    "elementwise.sincos.fused");
constexpr auto kFmaVariants = variants<kFmaFunction>(
    "elementwise.fma.unfused", "two kernels, one an operation, as an eager framework runs it",
    "elementwise.fma.fused");

template <const Function& kFunction>
constexpr KernelFamily family(std::string_view name, std::string_view summary,
                              std::span<const KernelModel> variants) {
  return {name,      summary,  map::kParameters, kTypes, work<kFunction>,
          streaming, variants, map::kValidated};
}

}  // namespace

constinit const KernelFamily kRelu =
    family<kReluFunction>("elementwise.relu", "y = max(x, 0)", kReluVariants);
constinit const KernelFamily kGelu = family<kGeluFunction>(
    "elementwise.gelu", "y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))", kGeluVariants);
constinit const KernelFamily kElu =
    family<kEluFunction>("elementwise.elu", "y = x if x > 0, else exp(x) - 1", kEluVariants);
constinit const KernelFamily kSincos =
    family<kSincosFunction>("elementwise.sincos", "y = sin²x + cos²x", kSincosVariants);
constinit const KernelFamily kFma =
    family<kFmaFunction>("elementwise.fma", "y = a·b + c", kFmaVariants);

}  // namespace roofcast::elementwise
