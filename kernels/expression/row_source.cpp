#include "kernels/expression/row_source.hpp"

#include <string_view>

#include "kernels/expression/node_text.hpp"
#include "kernels/expression/prelude.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::cuda::expr {
namespace {

using expression::Expression;
using expression::Op;
using roofcast::elementwise::Sweep;

constexpr std::string_view kReduce = R"(
struct Sum {
  static __device__ float none() { return 0; }
  static __device__ float of(float a, float b) { return a + b; }
};
struct Most {
  static __device__ float none() { return __uint_as_float(0xff800000u); }
  static __device__ float of(float a, float b) { return most(a, b); }
};
struct Least {
  static __device__ float none() { return __uint_as_float(0x7f800000u); }
  static __device__ float of(float a, float b) { return least(a, b); }
};
// The value of all threads, for all of them.
template <class Op> __device__ float over_block(float part) {
  __shared__ float of_warps[32];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    part = Op::of(part, __shfl_xor_sync(0xffffffffu, part, step));
  }
  if (kThreads == 32) return part;
  __syncthreads();  // the parts before these have been read
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = part;
  __syncthreads();
  float all = threadIdx.x % 32 < kThreads / 32 ? of_warps[threadIdx.x % 32] : Op::none();
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    all = Op::of(all, __shfl_xor_sync(0xffffffffu, all, step));
  }
  return all;
}
)";

std::string_view reducer(Op op) {
  if (op == Op::row_max) return "Most";
  return op == Op::row_min ? "Least" : "Sum";
}

std::string number(std::size_t value) {
  return std::to_string(value);
}

bool reads_elements(const Sweep& sweep, const Expression& e, std::size_t input) {
  for (const std::size_t at : sweep.computes) {
    if (e.nodes[at].op == Op::input && e.nodes[at].a == input) return true;
  }
  return false;
}

// Lines that define numbers and the values of rows that are known, in the order of the nodes.
std::string row_values(const Expression& e, const std::vector<bool>& of_rows,
                       const std::vector<bool>& known, std::string_view indent) {
  std::string text;
  for (std::size_t at = 0; at < e.nodes.size(); ++at) {
    if ((of_rows[at] && known[at]) || e.nodes[at].op == Op::number) {
      text += std::string(indent) + line_of(e, at).substr(2);
    }
  }
  return text;
}

// The loop of a sweep: loads, then for each element its values, partial reductions and stores.
std::string loop_of(const Expression& e, const Sweep& sweep, const std::string& values) {
  std::string text =
      "    for (int first = threadIdx.x * kWide; first < kCols; first += kThreads * kWide * "
      "kLoads) "
      "{\n"
      "      Element loaded[kInputs][kLoads][kWide];\n"
      "#pragma unroll\n"
      "      for (int i = 0; i < kLoads; ++i) {\n"
      "        const int at = first + i * kThreads * kWide;\n"
      "        if (at >= kCols) continue;\n";
  for (std::size_t input = 0; input < e.inputs.size(); ++input) {
    if (!reads_elements(sweep, e, input)) continue;
    text += "        load<kWide>(in.at[" + number(input) + "] + base + at, loaded[" +
            number(input) + "][i]);\n";
  }
  text +=
      "      }\n"
      "#pragma unroll\n"
      "      for (int i = 0; i < kLoads; ++i) {\n"
      "        const int at = first + i * kThreads * kWide;\n"
      "        if (at >= kCols) continue;\n";
  for (std::size_t output = 0; output < sweep.writes.size(); ++output) {
    text += "        Element stored" + number(output) + "[kWide];\n";
  }
  text +=
      "#pragma unroll\n"
      "        for (int j = 0; j < kWide; ++j) {\n";
  for (std::size_t input = 0; input < e.inputs.size(); ++input) {
    if (!reads_elements(sweep, e, input)) continue;
    text += "          x[" + number(input) + "] = widen(loaded[" + number(input) + "][i][j]);\n";
  }
  text += values;
  for (const std::size_t at : sweep.computes) {
    if (e.nodes[at].op != Op::number) text += "          " + line_of(e, at).substr(2);
  }
  for (const std::size_t at : sweep.reduces) {
    text += "          part" + number(at) + " = " + std::string(reducer(e.nodes[at].op)) +
            "::of(part" + number(at) + ", t" + number(e.nodes[at].a) + ");\n";
  }
  for (std::size_t output = 0; output < sweep.writes.size(); ++output) {
    text += "          stored" + number(output) + "[j] = narrow(t" + number(sweep.writes[output]) +
            ");\n";
  }
  text += "        }\n";
  const std::vector<std::uint8_t> outputs = e.outputs();
  for (std::size_t written = 0; written < sweep.writes.size(); ++written) {
    std::size_t output = 0;
    while (outputs[output] != sweep.writes[written]) ++output;
    text += "        store<kWide>(stored" + number(written) + ", out.at[" + number(output) +
            "] + base + at);\n";
  }
  return text + "      }\n    }\n";
}

std::string sweep_text(const Expression& e, const Sweep& sweep, const std::string& values) {
  std::string text = "  {\n";
  for (const std::size_t at : sweep.reduces) {
    text += "    float part" + number(at) + " = " + std::string(reducer(e.nodes[at].op)) +
            "::none();\n";
  }
  text += loop_of(e, sweep, values);
  for (const std::size_t at : sweep.reduces) {
    const bool mean = e.nodes[at].op == Op::row_mean;
    text += "    row[" + number(at) + "] = over_block<" + std::string(reducer(e.nodes[at].op)) +
            ">(part" + number(at) + ")" + (mean ? " * (1.0f / kCols)" : "") + ";\n";
  }
  return text + "  }\n";
}

// Which nodes are known once the reductions of up to `level` nested levels are complete.
std::vector<bool> known_at(const Expression& e, int level) {
  const std::vector<int> levels = expression::reduction_levels(e);
  std::vector<bool> known(levels.size());
  for (std::size_t at = 0; at < known.size(); ++at) known[at] = levels[at] <= level;
  return known;
}

std::string body_of(const Expression& e, const std::vector<bool>& input_rows) {
  const std::vector<bool> of_rows = expression::values_of_rows(e, input_rows);
  std::string text =
      "template <int kWide> __device__ void all_sweeps(const Inputs& in, const Outputs& out) {\n"
      "  const long long base = (long long)blockIdx.x * kCols;\n"
      "  float x[kInputs];\n"
      "  float row[" +
      number(e.nodes.size()) + "];\n";
  for (std::size_t input = 0; input < input_rows.size(); ++input) {
    if (!input_rows[input]) continue;
    text += "  x[" + number(input) + "] = widen(in.at[" + number(input) + "][blockIdx.x]);\n";
  }
  for (const Sweep& sweep : roofcast::elementwise::sweeps_of(e, input_rows)) {
    text += sweep_text(e, sweep, row_values(e, of_rows, known_at(e, sweep.level), "          "));
  }
  const std::vector<std::uint8_t> outputs = e.outputs();
  std::string ends;
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    if (!of_rows[outputs[output]]) continue;
    ends += "    out.at[" + number(output) + "][blockIdx.x] = narrow(t" + number(outputs[output]) +
            ");\n";
  }
  if (!ends.empty()) {
    const std::vector<bool> all(e.nodes.size(), true);
    text += "  if (threadIdx.x == 0) {\n" + row_values(e, of_rows, all, "    ") + ends + "  }\n";
  }
  return text + "}\n";
}

constexpr std::string_view kKernels = R"(
extern "C" __global__ __launch_bounds__(kThreads, kMinBlocks)
void map_vectors(Inputs in, Outputs out, long long rows) { all_sweeps<kRowWidth>(in, out); }
extern "C" __global__ __launch_bounds__(kThreads)
void map_scalar(Inputs in, Outputs out, long long rows) { all_sweeps<1>(in, out); }
)";

constexpr std::string_view kAccess = R"(
template <int kWide> __device__ void load(const Element* from, Element (&to)[kWide]) {
  if (kWide * sizeof(Element) == kVectorBytes) {
    union { Wide wide; Element element[kVectorBytes / sizeof(Element)]; } all;
    all.wide = __ldg(reinterpret_cast<const Wide*>(from));
#pragma unroll
    for (int j = 0; j < kWide; ++j) to[j] = all.element[j];
  } else {
    for (int j = 0; j < kWide; ++j) to[j] = from[j];
  }
}
template <int kWide> __device__ void store(const Element (&from)[kWide], Element* to) {
  if (kWide * sizeof(Element) == kVectorBytes) {
    union { Wide wide; Element element[kVectorBytes / sizeof(Element)]; } all;
#pragma unroll
    for (int j = 0; j < kWide; ++j) all.element[j] = from[j];
    *reinterpret_cast<Wide*>(to) = all.wide;
  } else {
    for (int j = 0; j < kWide; ++j) to[j] = from[j];
  }
}
)";

}  // namespace

std::string row_source(const Expression& expression, const Configuration& configuration,
                       const Rows& rows) {
  const Expression shared = expression::share(expression::fold(expression));
  const int inputs = static_cast<int>(shared.inputs.size());
  const int outputs = static_cast<int>(shared.outputs().size());
  const int threads = static_cast<int>(rows.threads);
  const int blocks = min_blocks(inputs + outputs - 1, threads, configuration);
  return prelude(configuration, inputs, outputs, threads, blocks) + constant("kCols", rows.cols) +
         constant("kRowWidth", rows.width) + std::string(kReduce) + std::string(kAccess) +
         body_of(shared, rows.input_rows) + std::string(kKernels);
}

}  // namespace roofcast::cuda::expr
