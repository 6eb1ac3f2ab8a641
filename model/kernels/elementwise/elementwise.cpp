#include "model/kernels/elementwise/elementwise.hpp"

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::elementwise {
namespace {

/// A function as one fused kernel and as several unfused ones.
struct Function {
  map::Operation fused;      ///< in fp32
  map::Cost fused16;         ///< in 16-bit types
  std::string_view unfused;  ///< the expression, and the kernel of each of its operations
  std::array<std::string_view, 9> kernels;
};

// Operations: arrays read, arrays written, {FLOPs, special functions, conversions} of an element.
// In fp32 they are accurate to the last bits: expm1, and the polynomials of sin and cos after one
// reduction of the angle. In 16-bit types they use the special-function unit. Counted in the PTX of
// CUDA 13.0, without the paths for huge angles. The counters count no FLOP for a maximum.
constexpr Function kReluFunction = {
    {1, 1, {0}, "elementwise::Relu"}, {0}, kReluUnfused, {"elementwise::Relu"}};
constexpr Function kGeluFunction = {
    {1, 1, {6, 2}, "elementwise::Gelu"},
    {6, 2},
    kGeluUnfused,
    {"elementwise::Square", "elementwise::Multiply", "elementwise::TimesCubic", "elementwise::Add",
     "elementwise::TimesSlope", "elementwise::Tanh", "elementwise::AddOne", "elementwise::Half",
     "elementwise::Multiply"}};
constexpr Function kFmaFunction = {{3, 1, {2}, "elementwise::Fma"},
                                   {2},
                                   kFmaUnfused,
                                   {"elementwise::Multiply", "elementwise::Add"}};
constexpr Function kEluFunction = {
    {1, 1, {23, 1, 1}, "elementwise::Elu"},
    {5, 1},
    kEluUnfused,
    {"elementwise::Relu", "elementwise::Exp", "elementwise::MinusOne", "elementwise::Min0",
     "elementwise::Add"}};
constexpr Function kSincosFunction = {
    {1, 1, {27, 0, 2}, "elementwise::Sincos"},
    {12, 2},
    kSincosUnfused,
    {"elementwise::Sin", "elementwise::Square", "elementwise::Cos", "elementwise::Square",
     "elementwise::Add"}};

template <const Function& kFunction, bool kFused>
LaunchSequence plan(const Problem& problem, const Gpu& /*gpu*/) {
  if (!kFused) {
    return chain_plans(expression::eager(expression::parse(kFunction.unfused)), kFunction.kernels,
                       problem);
  }
  map::Operation fused = kFunction.fused;
  if (problem.dtype != DType::fp32) fused.cost = kFunction.fused16;
  return launch_of(map::plan(fused, problem));
}

template <const Function& kFunction>
Work work(const Problem& problem) {
  const map::Operation& fused = kFunction.fused;  // the work does not depend on its kernel
  return total_work(map::plan({fused.reads, fused.writes, kFunction.fused16}, problem));
}

template <const Function& kFunction>
constexpr std::array<KernelModel, 2> variants(
    std::string_view unfused, std::string_view unfused_summary, std::string_view fused,
    std::string_view fused_summary = "one kernel, intermediates in registers") {
  return {{{unfused, unfused_summary, map::kParameters, map::kTypes, plan<kFunction, false>},
           {fused, fused_summary, map::kParameters, map::kTypes, plan<kFunction, true>}}};
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
  return {name, summary, map::kParameters, map::kTypes, variants, map::kValidated, work<kFunction>};
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
