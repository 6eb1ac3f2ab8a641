#pragma once
// Each function of this folder is two entries: fused (one kernel), and unfused (one kernel an
// operation, every intermediate stored in the element type and read again, as an eager framework
// runs it).
#include <array>
#include <string>
#include <vector>

#include "kernels/common/map.cuh"
#include "model/expression/chain.hpp"
#include "model/kernels/elementwise/elementwise.hpp"

namespace roofcast::cuda::elementwise {

/// Returns the kernels compiled for one operation in a type.
using CompiledFor = std::span<const map::Compiled> (*)(DType);

/// The kernels of an operation in the configurations that the sweeps measure; none in fp64. 16-bit
/// types may have an operation `Op16` of their own.
template <class Op, class Op16 = Op>
std::span<const map::Compiled> compiled(DType dtype) {
  return visit_element(dtype, []<class T>(std::type_identity<T>) {
    if constexpr (sizeof(T) > 4)
      return std::span<const map::Compiled>{};
    else
      return map::few_compiled<std::conditional_t<sizeof(T) == 2, Op16, Op>, T>();
  });
}

constexpr Problem configuration(std::int64_t threads, std::int64_t bytes, std::int64_t loads) {
  return {.dtype = DType::fp32, .values = {0, threads, bytes, loads}};
}
inline constexpr std::array kConfigurations = {configuration(256, 16, 1),
                                               configuration(512, 16, 2)};

inline std::string unsupported(CompiledFor find, const Problem& p) {
  if (p.dtype != DType::fp32 && p.dtype != DType::fp16 && p.dtype != DType::bf16) {
    return "elementwise kernels run in fp32, fp16 and bf16, not " +
           std::string(roofcast::name(p.dtype));
  }
  return map::unsupported(find(p.dtype), p);
}

inline Tensor array_of(const Problem& p) {
  return {p.dtype, static_cast<std::size_t>(p[map::kElements])};
}

/// Where a result is rounded to the element type: nowhere (it is exact); once, after arithmetic in
/// fp32; or after each operation of a chain.
enum class Rounding { none, once, each };

/// The fp32 arithmetic errs by at most 32·u in fp32, and by less than 2^-15 with the operations of
/// 16-bit types. Rounding::each adds 8·u: four roundings of intermediates that are at most about
/// twice the largest result.
template <Rounding kRounding>
double tolerance(const Problem& p, std::size_t /*output*/) {
  if (kRounding == Rounding::none) return 0;
  const double u = unit_roundoff(p.dtype);
  const double arithmetic =
      p.dtype == DType::fp32 ? 32 * kFp32Roundoff : std::max(0x1p-15, 32 * kFp32Roundoff);
  return arithmetic + (kRounding == Rounding::each ? 8 * u : narrowing(p.dtype));
}

/// The float64 reference: `Function` applied to doubles.
template <class Function>
void reference(const Problem& p, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t stream) {
  map::reference<Function>(p, inputs, outputs.front(), stream);
}

template <class Function, CompiledFor kCompiled, Rounding kRounding>
KernelEntry fused(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = [](const Problem& p) { return unsupported(kCompiled, p); },
      .tensors =
          [](const Problem& p) {
            return Tensors{std::vector<Tensor>(Function::kInputs, array_of(p)), {array_of(p)}};
          },
      .launches =
          [](const Problem& p) {
            return std::vector{map::launch_of(*map::find(kCompiled(p.dtype), p), p)};
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            const auto input = [&](std::size_t i) {
              return at.inputs[std::min(i, at.inputs.size() - 1)];
            };
            map::run(*map::find(kCompiled(p.dtype), p), p, {input(0), input(1), input(2)},
                     at.outputs.front(), stream);
          },
      .reference = reference<Function>,
      .tolerance = tolerance<kRounding>,
  };
}

/// The kernels by which an eager framework computes the function, from the model.
template <const std::string_view& kText>
const expression::Chain& chain() {
  static const expression::Chain value = expression::eager(expression::parse(kText));
  return value;
}

/// `kSteps`: the compiled kernels for each step of the chain, in order.
template <class Function, const std::string_view& kText, const auto& kSteps, Rounding kRounding>
KernelEntry unfused(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = [](const Problem& p) -> std::string {
        for (const CompiledFor step : kSteps) {
          const std::string why = unsupported(step, p);
          if (!why.empty()) return why;
        }
        return {};
      },
      .tensors =
          [](const Problem& p) {
            const expression::Chain& arrays = chain<kText>();
            return Tensors{std::vector<Tensor>(arrays.inputs, array_of(p)),
                           {array_of(p)},
                           std::vector<Tensor>(arrays.scratch, array_of(p))};
          },
      .launches =
          [](const Problem& p) {
            std::vector<Launch> launches;
            for (const CompiledFor step : kSteps) {
              launches.push_back(map::launch_of(*map::find(step(p.dtype), p), p));
            }
            return launches;
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            std::vector<const void*> arrays(at.inputs.begin(), at.inputs.end());
            arrays.push_back(at.outputs.front());
            arrays.insert(arrays.end(), at.scratch.begin(), at.scratch.end());
            for (std::size_t i = 0; i < kSteps.size(); ++i) {
              const expression::Step& step = chain<kText>().steps[i];
              const void* const a = arrays[step.reads.front()];
              const void* const b = arrays[step.reads.back()];
              void* const to = step.writes == chain<kText>().output()
                                   ? at.outputs.front()
                                   : at.scratch[step.writes - chain<kText>().output() - 1];
              map::run(*map::find(kSteps[i](p.dtype), p), p, {a, b, b}, to, stream);
            }
          },
      .reference = reference<Function>,
      .tolerance = tolerance<kRounding>,
  };
}

}  // namespace roofcast::cuda::elementwise
