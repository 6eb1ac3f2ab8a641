#include "model/kernels/elementwise/elementwise.hpp"

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::elementwise {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

/// What runs as one kernel, and as several.
struct Function {
  map::Operation fused;    ///< in fp32
  map::Operation fused16;  ///< in 16-bit types
  std::string_view unfused;
  std::span<const std::string_view> kernels, kernels16;  ///< of the unfused ones, in order
};

constexpr std::string_view kReluKernel = "elementwise::Relu";
constexpr std::string_view kFmaKernel = "elementwise::Fma";

//                                  reads writes flops special instructions
// A maximum is no FLOP by the counters.
constexpr map::Operation kReluWork = {1, 1, 0, 0, 1, kReluKernel};
constexpr map::Operation kReluWork16 = {1, 1, 0, 0, 2.5, kReluKernel};
constexpr map::Operation kGeluWork = {1, 1, 6, 2, 9, "elementwise::Gelu"};
// The fp32 ones are right to the last bits: expm1, and the polynomials of sin and cos after one
// reduction of the angle. The 16-bit ones take the special-function unit. Counted in the PTX of
// CUDA 13.0, without the paths for huge angles.
constexpr map::Operation kEluWork = {1, 1, 23, 1, 28, "elementwise::Elu", 1};
constexpr map::Operation kEluWork16 = {1, 1, 5, 1, 9, "elementwise::Elu16"};
constexpr map::Operation kSincosWork = {1, 1, 27, 0, 28, "elementwise::Sincos", 2};
constexpr map::Operation kSincosWork16 = {1, 1, 12, 2, 10, "elementwise::Sincos16"};
constexpr map::Operation kFmaWork = {3, 1, 2, 0, 1, kFmaKernel};
constexpr map::Operation kFmaWork16 = {3, 1, 2, 0, 4.5, kFmaKernel};

constexpr std::array kReluKernels = {kReluKernel};
constexpr std::array<std::string_view, 9> kGeluKernels = {
    "elementwise::Square", "elementwise::Multiply",   "elementwise::TimesCubic",
    "elementwise::Add",    "elementwise::TimesSlope", "elementwise::Tanh",
    "elementwise::AddOne", "elementwise::Half",       "elementwise::Multiply"};
constexpr std::array<std::string_view, 5> kEluKernels = {"elementwise::Relu", "elementwise::Exp",
                                                         "elementwise::MinusOne",
                                                         "elementwise::Min0", "elementwise::Add"};
constexpr std::array<std::string_view, 5> kEluKernels16 = {
    "elementwise::Relu", "elementwise::Exp16", "elementwise::MinusOne", "elementwise::Min0",
    "elementwise::Add"};
constexpr std::array<std::string_view, 5> kSincosKernels = {
    "elementwise::Sin", "elementwise::Square", "elementwise::Cos", "elementwise::Square",
    "elementwise::Add"};
constexpr std::array<std::string_view, 5> kSincosKernels16 = {
    "elementwise::Sin16", "elementwise::Square", "elementwise::Cos16", "elementwise::Square",
    "elementwise::Add"};
constexpr std::array<std::string_view, 2> kFmaKernels = {"elementwise::Multiply",
                                                         "elementwise::Add"};

constexpr Function kReluFunction = {kReluWork, kReluWork16, kReluUnfused, kReluKernels,
                                    kReluKernels};
constexpr Function kGeluFunction = {kGeluWork, kGeluWork, kGeluUnfused, kGeluKernels, kGeluKernels};
constexpr Function kEluFunction = {kEluWork, kEluWork16, kEluUnfused, kEluKernels, kEluKernels16};
constexpr Function kSincosFunction = {kSincosWork, kSincosWork16, kSincosUnfused, kSincosKernels,
                                      kSincosKernels16};
constexpr Function kFmaFunction = {kFmaWork, kFmaWork16, kFmaUnfused, kFmaKernels, kFmaKernels};

template <const Function& kFunction>
LaunchSequence plan_fused(const Problem& problem, const Gpu& /*gpu*/) {
  const bool wide = problem.dtype == DType::fp32;
  return launch_of(map::plan(wide ? kFunction.fused : kFunction.fused16, problem));
}

template <const Function& kFunction>
LaunchSequence plan_unfused(const Problem& problem, const Gpu& /*gpu*/) {
  const bool wide = problem.dtype == DType::fp32;
  return chain_plans(expression::eager(expression::parse(kFunction.unfused)),
                     wide ? kFunction.kernels : kFunction.kernels16, problem);
}

template <const Function& kFunction>
Work work(const Problem& problem) {
  map::Operation least = kFunction.fused16;
  least.kernel = {};  // however it is compiled
  return total_work(map::plan(least, problem));
}

template <const Function& kFunction>
constexpr std::array<KernelModel, 2> variants(std::string_view unfused_name,
                                              std::string_view unfused_summary,
                                              std::string_view fused_name) {
  return {{{unfused_name, unfused_summary, map::kParameters, kTypes, plan_unfused<kFunction>},
           {fused_name, "one kernel, intermediates in registers", map::kParameters, kTypes,
            plan_fused<kFunction>}}};
}

constexpr std::array<KernelModel, 2> kReluVariants = {{
    {"elementwise.relu.unfused", "one kernel: relu is a single operation", map::kParameters, kTypes,
     plan_unfused<kReluFunction>},
    {"elementwise.relu.fused", "one kernel: relu is a single operation", map::kParameters, kTypes,
     plan_fused<kReluFunction>},
}};
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

constexpr KernelFamily family(std::string_view name, std::string_view summary,
                              Work (*work)(const Problem&), std::span<const KernelModel> variants) {
  return {name, summary, map::kParameters, kTypes, work, streaming, variants, map::kValidated};
}

}  // namespace

constinit const KernelFamily kRelu =
    family("elementwise.relu", "y = max(x, 0)", work<kReluFunction>, kReluVariants);
constinit const KernelFamily kGelu =
    family("elementwise.gelu", "y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))", work<kGeluFunction>,
           kGeluVariants);
constinit const KernelFamily kElu =
    family("elementwise.elu", "y = x if x > 0, else exp(x) - 1", work<kEluFunction>, kEluVariants);
constinit const KernelFamily kSincos =
    family("elementwise.sincos", "y = sin²x + cos²x", work<kSincosFunction>, kSincosVariants);
constinit const KernelFamily kFma =
    family("elementwise.fma", "y = a·b + c", work<kFmaFunction>, kFmaVariants);

}  // namespace roofcast::elementwise
