#include "model/kernels/stream/stream.hpp"

#include "model/kernels/common/map.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::stream {
namespace {

//                              reads writes flops
constexpr map::Operation kCopy = {1, 1, {0}, "stream::Copy"};
constexpr map::Operation kScale = {1, 1, {1}, "stream::Scale"};
constexpr map::Operation kAdd = {2, 1, {1}, "stream::Add"};
constexpr map::Operation kTriad = {2, 1, {2}, "stream::Triad"};

template <const map::Operation& kOperation>
LaunchSequence plan(const Problem& problem, const Gpu& /*gpu*/) {
  return launch_of(map::plan(kOperation, problem));
}

// A launch with the grid of a copy of n elements, whose blocks do nothing.
LaunchSequence plan_null(const Problem& problem, const Gpu& /*gpu*/) {
  Plan plan = map::plan(kCopy, problem);
  plan.launch.registers = compiled::registers("stream::null_kernel");
  plan.useful = {};
  plan.arrays.clear();
  plan.blocks = {{plan.launch.blocks(), {}}};
  return launch_of(std::move(plan));
}

// Each block can reserve shared memory, so that fewer fit an SM: this lowers occupancy.
constexpr std::array kParameters =
    with_own(map::kParameters, setting("reserved_shared_bytes",
                                       "shared memory a block reserves and does not use (bytes)", 0,
                                       std::int64_t{227} * 1024, 0));
constexpr std::array kNullParameters = [] {
  auto parameters = kParameters;
  parameters[map::kElements].fallback = 1;
  return parameters;
}();

constexpr std::array kTypes = {DType::fp64, DType::fp32, DType::fp16, DType::bf16};

constexpr std::array<KernelModel, 5> kVariants = {{
    {"stream.null", "an empty kernel: the cost of a launch", kNullParameters, kTypes, plan_null},
    {"stream.copy", "b = a", kParameters, kTypes, plan<kCopy>},
    {"stream.scale", "b = s·a", kParameters, kTypes, plan<kScale>},
    {"stream.add", "c = a + b", kParameters, kTypes, plan<kAdd>},
    {"stream.triad", "c = a + s·b", kParameters, kTypes, plan<kTriad>},
}};

}  // namespace

constinit const KernelFamily kFamily = {
    "stream", "streaming arrays through DRAM", kParameters, kTypes, kVariants, map::kValidated};

}  // namespace roofcast::stream
