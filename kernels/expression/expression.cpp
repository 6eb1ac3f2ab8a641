#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/error.hpp"
#include "kernels/expression/compile.hpp"
#include "kernels/expression/reference.hpp"
#include "kernels/expression/row_source.hpp"
#include "kernels/expression/source.hpp"
#include "kernels/families.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::cuda::expr {
namespace {

using expression::Chain;
using expression::Expression;
using roofcast::elementwise::kCols;
using roofcast::map::kElements;
using roofcast::map::kLoads;
using roofcast::map::kThreads;
using roofcast::map::kVectorBytes;

Configuration configuration_of(const Problem& p) {
  return {p.dtype, static_cast<int>(p[kThreads]), static_cast<int>(p[kVectorBytes]),
          static_cast<int>(p[kLoads])};
}

/// The chain of an expression: one kernel for the whole of it (kFused), or one for each operation.
template <bool kFused>
Chain chain_of(const Expression& expression) {
  if (!kFused) return expression::eager(expression);
  Chain chain;
  chain.inputs = expression.inputs.size();
  chain.outputs = expression.outputs().size();
  expression::Step all;
  all.operation = expression;
  all.writes = chain.output();
  for (std::size_t i = 0; i < chain.inputs; ++i) all.reads.push_back(i);
  all.read_rows.assign(chain.inputs, false);
  chain.steps.push_back(std::move(all));
  return chain;
}

std::int64_t rows_of(const Problem& p) {
  return p[kElements] / p[kCols];
}

/// The problem of one step. A step whose arrays have one value a row has one element a row.
Problem problem_of(const expression::Step& step, Problem p) {
  if (!step.along_rows() && step.writes_rows) p[kElements] = rows_of(p);
  return p;
}

std::string source_of(const expression::Step& step, const Problem& p) {
  if (!step.along_rows()) return source(step.operation, configuration_of(p));
  return row_source(step.operation, configuration_of(p),
                    {p[kCols], roofcast::elementwise::row_threads(p),
                     roofcast::elementwise::row_width(p), step.read_rows});
}

template <bool kFused>
Chain chain_of(const Problem& p) {
  return chain_of<kFused>(roofcast::elementwise::expression_of(p));
}

struct Ready {
  Chain chain;
  std::vector<Kernels> kernels;  ///< one for each step
};

// The kernels of a problem, compiled on first use. Later calls only look them up, so that launches
// can be timed.
template <bool kFused>
const Ready& ready(const Problem& p) {
  static std::mutex one_at_a_time;
  static std::map<std::string, Ready> known;
  int device = 0;
  check(cudaGetDevice(&device));
  std::string key(p.text.view());
  for (const std::int64_t part : {std::int64_t{device}, static_cast<std::int64_t>(p.dtype),
                                  p[kThreads], p[kVectorBytes], p[kLoads], p[kCols]}) {
    key += ' ' + std::to_string(part);
  }
  const std::lock_guard lock(one_at_a_time);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  Ready made{chain_of<kFused>(p), {}};
  for (const expression::Step& step : made.chain.steps) {
    made.kernels.push_back(compiled(source_of(step, p)));
  }
  return known.emplace(std::move(key), std::move(made)).first->second;
}

std::int64_t elements_of_a_block(const Problem& p) {
  const auto width =
      static_cast<std::int64_t>(static_cast<double>(p[kVectorBytes]) / size_bytes(p.dtype));
  return p[kThreads] * width * p[kLoads];
}

struct Shape {
  dim3 grid;
  dim3 block;
  std::int64_t count;  ///< elements, or rows: the kernel's last argument
};

Shape shape_of(const expression::Step& step, const Problem& asked) {
  if (step.along_rows()) {
    return {dim3(static_cast<unsigned>(rows_of(asked))),
            dim3(static_cast<unsigned>(roofcast::elementwise::row_threads(asked))), rows_of(asked)};
  }
  const Problem p = problem_of(step, asked);
  const std::int64_t chunk = elements_of_a_block(p);
  return {dim3(static_cast<unsigned>((p[kElements] + chunk - 1) / chunk)),
          dim3(static_cast<unsigned>(p[kThreads])), p[kElements]};
}

template <class... Allowed>
bool one_of(std::int64_t value, Allowed... allowed) {
  return ((value == allowed) || ...);
}

std::string unsupported_configuration(const Problem& p, std::int64_t inputs) {
  if (p.dtype != DType::fp32 && p.dtype != DType::fp16 && p.dtype != DType::bf16) {
    return "elementwise kernels run in fp32, fp16 and bf16, not " + std::string(name(p.dtype));
  }
  if (!one_of(p[kVectorBytes], 4, 8, 16)) return "vector_bytes must be 4, 8 or 16";
  if (!one_of(p[kLoads], 1, 2, 4, 8)) return "loads must be 1, 2, 4 or 8";
  const std::int64_t registers =
      roofcast::map::generated_registers(p.dtype, inputs, p[kVectorBytes], p[kLoads]);
  const std::int64_t most = std::min<std::int64_t>(1024, 65536 / registers / 32 * 32);
  if (p[kThreads] < 32 || p[kThreads] > most || p[kThreads] % 32 != 0 || registers > 128) {
    return "threads must be a multiple of 32 from 32 to " + std::to_string(most) +
           ", and the vectors that wait for each other at most 104 registers; asked for " +
           std::to_string(p[kThreads]) + " threads and " + std::to_string(inputs) + " inputs of " +
           std::to_string(p[kLoads]) + " loads";
  }
  if (p[kElements] < 1 || p[kElements] >> 40 != 0) return "n must be from 1 to 2^40 - 1";
  return {};
}

template <bool kFused>
std::string unsupported(const Problem& p) {
  try {
    const Expression expression = roofcast::elementwise::expression_of(p);
    const std::size_t inputs =
        kFused ? expression.inputs.size() + expression.outputs().size() - 1 : 2;
    const std::string why = unsupported_configuration(p, static_cast<std::int64_t>(inputs));
    return why.empty() ? cannot_compile() : why;
  } catch (const InputError& error) {
    return error.what();
  }
}

Tensor array_of(const Problem& p) {
  return {p.dtype, static_cast<std::size_t>(p[kElements])};
}

std::vector<Tensor> outputs_of(const Problem& p) {
  const Expression expression = roofcast::elementwise::expression_of(p);
  const std::vector<bool> of_rows = expression::values_of_rows(expression);
  std::vector<Tensor> arrays;
  for (const std::uint8_t output : expression.outputs()) {
    arrays.push_back(array_of(p));
    if (of_rows[output]) arrays.back().elements = static_cast<std::size_t>(rows_of(p));
  }
  return arrays;
}

template <bool kFused>
Tensors tensors(const Problem& p) {
  const Chain chain = chain_of<kFused>(p);
  return {std::vector<Tensor>(chain.inputs, array_of(p)), outputs_of(p),
          std::vector<Tensor>(chain.scratch, array_of(p))};
}

bool no_device() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return false;
  (void)cudaGetLastError();
  return true;
}

// Without a device the functions are null: there is no architecture to compile for.
template <bool kFused>
std::vector<Launch> launches(const Problem& p) {
  std::vector<Launch> all;
  for (const expression::Step& step : chain_of<kFused>(p).steps) {
    const Shape shape = shape_of(step, p);
    all.push_back({nullptr, shape.grid, shape.block, 0});
  }
  if (no_device()) return all;
  const Ready& kernels = ready<kFused>(p);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].function = kernels.kernels[i].vectors;
  return all;
}

void launch(const Kernels& kernels, const expression::Step& step, const Problem& p,
            std::span<const void*> inputs, std::span<void*> outputs, cudaStream_t stream) {
  const auto past = [&](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % static_cast<std::uintptr_t>(p[kVectorBytes]);
  };
  const std::uintptr_t shift = step.along_rows() ? 0 : past(outputs.front());
  const auto same = [&](const void* pointer) { return past(pointer) == shift; };
  const bool same_shift = std::all_of(inputs.begin(), inputs.end(), same) &&
                          std::all_of(outputs.begin(), outputs.end(), same);
  Shape shape = shape_of(step, p);
  std::array<void*, 3> arguments = {inputs.data(), outputs.data(), &shape.count};
  check(cudaLaunchKernel(same_shift ? kernels.vectors : kernels.scalar, shape.grid, shape.block,
                         arguments.data(), 0, stream));
}

template <bool kFused>
void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Ready& kernels = ready<kFused>(p);
  const Chain& chain = kernels.chain;
  const auto written = [&](std::size_t array) -> void* {
    return array < chain.first_scratch() ? at.outputs[array - chain.output()]
                                         : at.scratch[array - chain.first_scratch()];
  };
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    const expression::Step& step = chain.steps[i];
    std::array<const void*, roofcast::elementwise::kMaxInputs> inputs{};
    std::transform(step.reads.begin(), step.reads.end(), inputs.begin(),
                   [&](std::size_t array) -> const void* {
                     return array < chain.inputs ? at.inputs[array] : written(array);
                   });
    std::array<void*, roofcast::elementwise::kMaxOutputs> outputs = {written(step.writes)};
    const std::size_t results = kFused ? chain.outputs : 1;
    if (kFused) std::copy(at.outputs.begin(), at.outputs.end(), outputs.begin());
    launch(kernels.kernels[i], step, p, std::span(inputs).first(step.reads.size()),
           std::span(outputs).first(results), stream);
  }
}

void reference_of(const Problem& p, std::span<const void* const> inputs,
                  std::span<double* const> outputs, cudaStream_t stream) {
  reference(roofcast::elementwise::expression_of(p), p.dtype, inputs, outputs,
            {p[kElements], p[kCols]}, stream);
}

template <bool kFused>
double tolerance_of(const Problem& p, std::size_t output) {
  return tolerance(roofcast::elementwise::expression_of(p), p.dtype, !kFused, output, p[kCols]);
}

void fill(const Problem& p, std::span<void* const> inputs, std::uint64_t seed,
          cudaStream_t stream) {
  if (!wants_positive(roofcast::elementwise::expression_of(p))) return;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fill_positive(inputs[i], p.dtype, p[kElements], 64 * seed + i, stream);
  }
}

Problem configuration(std::string_view expression, std::int64_t threads, std::int64_t bytes,
                      std::int64_t loads, std::int64_t cols = 0) {
  return {.dtype = DType::fp32,
          .values = {0, threads, bytes, loads, 0, cols},
          .text = Text(expression)};
}

// These cover each function of elements, 1 to 8 inputs, each width of access and several results.
const std::vector<Problem>& configurations() {
  static const std::vector<Problem> all = {
      configuration("x*sigmoid(x)", 256, 16, 1),
      configuration("0.5*x*(1+tanh(0.79788456*(x+0.044715*x*x*x)))", 256, 16, 1),
      configuration("sin(x)^2 + cos(x)^2", 256, 16, 1),
      configuration("a*b + c", 256, 16, 1),
      configuration("a*b - min(c, d)", 512, 8, 2),
      configuration("relu(x) + min(exp(x) - 1, 0)", 128, 4, 4),
      configuration("log(x)*rsqrt(y)/(x + 2)^3 + abs(-x)^0.5", 256, 16, 2),
      configuration("max(a, b)^1.5 + sqrt(b)*a^-2 - a^-1", 256, 16, 1),
      configuration("(a+b)*(c-d) + (e-f)*(g+h)", 256, 16, 1),
      configuration("y = erf(x)*(x > 0.5); z = silu(x) + (x <= 0)", 256, 16, 1),
  };
  return all;
}

template <bool kFused>
KernelEntry entry(std::string_view name) {
  return {.name = name,
          .configurations = configurations(),
          .unsupported = unsupported<kFused>,
          .tensors = tensors<kFused>,
          .launches = launches<kFused>,
          .run = run<kFused>,
          .reference = reference_of,
          .tolerance = tolerance_of<kFused>,
          .fill = fill};
}

}  // namespace

Entries entries() {
  static const std::array table = {entry<true>("elementwise.expr.fused"),
                                   entry<false>("elementwise.expr.unfused")};
  return table;
}

}  // namespace roofcast::cuda::expr
