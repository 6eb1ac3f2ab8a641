#include "model/kernels/stream/stream.hpp"

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::stream {
namespace {

//                                   reads writes flops special
constexpr map::Operation kCopyWork = {1, 1, 0, 0, "stream::Copy"};
constexpr map::Operation kScaleWork = {1, 1, 1, 0, "stream::Scale"};
constexpr map::Operation kAddWork = {2, 1, 1, 0, "stream::Add"};
constexpr map::Operation kTriadWork = {2, 1, 2, 0, "stream::Triad"};

template <const map::Operation& kOperation>
LaunchSequence plan(const Problem& problem, const Gpu& /*gpu*/) {
  return launch_of(map::plan(kOperation, problem));
}

// A launch with the grid of a copy of n elements, whose blocks do nothing.
LaunchSequence plan_null(const Problem& problem, const Gpu& /*gpu*/) {
  Plan plan = map::plan(kCopyWork, problem);
  plan.launch.registers = compiled::registers("stream::null_kernel");
  plan.useful = {};
  plan.arrays.clear();
  plan.blocks = {{plan.launch.blocks(), {}}};
  return launch_of(std::move(plan));
}

constexpr std::array kParameters = with_own(map::kParameters, map::kReservedSharedParameter);
constexpr std::array kNullParameters = [] {
  auto parameters = kParameters;
  parameters[kElements].fallback = 1;
  return parameters;
}();

constexpr std::array kTypes = {DType::fp64, DType::fp32, DType::fp16, DType::bf16};

constexpr std::array<KernelModel, 5> kVariants = {{
    {"stream.null", "an empty kernel: the cost of a launch", kNullParameters, kTypes, plan_null},
    {"stream.copy", "b = a", kParameters, kTypes, plan<kCopyWork>},
    {"stream.scale", "b = s·a", kParameters, kTypes, plan<kScaleWork>},
    {"stream.add", "c = a + b", kParameters, kTypes, plan<kAddWork>},
    {"stream.triad", "c = a + s·b", kParameters, kTypes, plan<kTriadWork>},
}};

}  // namespace

constinit const KernelFamily kFamily = {"stream",    "streaming arrays through DRAM",
                                        kParameters, kTypes,
                                        nullptr,     streaming,
                                        kVariants,   map::kValidated};

}  // namespace roofcast::stream
