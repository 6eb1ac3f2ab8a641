#include "model/kernels/elementwise/elementwise.hpp"

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::elementwise {
namespace {

/// A function as one fused kernel and as several unfused ones.
struct Function {
  std::string_view name, summary;
  std::array<std::string_view, 2> variants;  ///< fused; unfused
  map::Operation fused;                      ///< in fp32
  map::Cost fused16;                         ///< in 16-bit types
  std::string_view unfused;                  ///< the expression, and the kernels of its operations
  std::array<std::string_view, 9> kernels;
};

// Operations: arrays read, arrays written, {FLOPs, special functions, conversions} of an element.
// In fp32 they are accurate to the last bits: expm1, and the polynomials of sin and cos after one
// reduction of the angle. In 16-bit types they use the special-function unit. Counted in the PTX of
// CUDA 13.0, without the paths for huge angles. The counters count no FLOP for a maximum.
constexpr Function kReluFunction = {"elementwise.relu",
                                    "y = max(x, 0)",
                                    {"elementwise.relu.fused", "elementwise.relu.unfused"},
                                    {1, 1, {0}, "elementwise::Relu"},
                                    {0},
                                    kReluUnfused,
                                    {"elementwise::Relu"}};
constexpr Function kGeluFunction = {
    "elementwise.gelu",
    "y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))",
    {"elementwise.gelu.fused", "elementwise.gelu.unfused"},
    {1, 1, {6, 2}, "elementwise::Gelu"},
    {6, 2},
    kGeluUnfused,
    {"elementwise::Square", "elementwise::Multiply", "elementwise::TimesCubic", "elementwise::Add",
     "elementwise::TimesSlope", "elementwise::Tanh", "elementwise::AddOne", "elementwise::Half",
     "elementwise::Multiply"}};
constexpr Function kEluFunction = {
    "elementwise.elu",
    "y = x if x > 0, else exp(x) - 1",
    {"elementwise.elu.fused", "elementwise.elu.unfused"},
    {1, 1, {23, 1, 1}, "elementwise::Elu"},
    {5, 1},
    kEluUnfused,
    {"elementwise::Relu", "elementwise::Exp", "elementwise::MinusOne", "elementwise::Min0",
     "elementwise::Add"}};
constexpr Function kSincosFunction = {
    "elementwise.sincos",
    "y = sin²x + cos²x",
    {"elementwise.sincos.fused", "elementwise.sincos.unfused"},
    {1, 1, {27, 0, 2}, "elementwise::Sincos"},
    {12, 2},
    kSincosUnfused,
    {"elementwise::Sin", "elementwise::Square", "elementwise::Cos", "elementwise::Square",
     "elementwise::Add"}};
constexpr Function kFmaFunction = {"elementwise.fma",
                                   "y = a·b + c",
                                   {"elementwise.fma.fused", "elementwise.fma.unfused"},
                                   {3, 1, {2}, "elementwise::Fma"},
                                   {2},
                                   kFmaUnfused,
                                   {"elementwise::Multiply", "elementwise::Add"}};

template <const Function& kFunction>
LaunchSequence plan_fused(const Problem& problem, const Gpu& /*gpu*/) {
  map::Operation fused = kFunction.fused;
  if (problem.dtype != DType::fp32) fused.cost = kFunction.fused16;
  return launch_of(map::plan(fused, problem));
}

template <const Function& kFunction>
LaunchSequence plan_unfused(const Problem& problem, const Gpu& /*gpu*/) {
  return chain_plans(expression::eager(expression::parse(kFunction.unfused)), kFunction.kernels,
                     problem);
}

template <const Function& kFunction>
Work work(const Problem& problem) {
  const map::Operation& fused = kFunction.fused;  // the work does not depend on its kernel
  return total_work(map::plan({fused.reads, fused.writes, kFunction.fused16}, problem));
}

template <const Function& kFunction>
constexpr std::array<KernelModel, 2> kVariants = {
    {{kFunction.variants[1], "one kernel an operation, as an eager framework runs it",
      map::kParameters, map::kTypes, plan_unfused<kFunction>},
     {kFunction.variants[0], "one kernel, intermediates in registers", map::kParameters,
      map::kTypes, plan_fused<kFunction>}}};

template <const Function& kFunction>
constexpr KernelFamily kFamily = {kFunction.name, kFunction.summary,    map::kParameters,
                                  map::kTypes,    kVariants<kFunction>, map::kValidated,
                                  work<kFunction>};

}  // namespace

constinit const KernelFamily kRelu = kFamily<kReluFunction>;
constinit const KernelFamily kGelu = kFamily<kGeluFunction>;
constinit const KernelFamily kElu = kFamily<kEluFunction>;
constinit const KernelFamily kSincos = kFamily<kSincosFunction>;
constinit const KernelFamily kFma = kFamily<kFmaFunction>;

}  // namespace roofcast::elementwise
