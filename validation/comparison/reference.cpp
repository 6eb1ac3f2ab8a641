#include "validation/comparison/reference.hpp"

#include <array>

#include "validation/comparison/table.hpp"

namespace roofcast::validation {
namespace {

// The framework's elementwise kernels process four elements a thread, in one access for fp32, with
// 128 threads a block (ATen/native/cuda/CUDALoops.cuh); the table's columns grid and block agree.
// Their arithmetic is irrelevant, since they are memory-bound.
constexpr std::array kOperations = {
    ReferenceOperation{"add,mul", "elementwise", "stream.add", true},
    ReferenceOperation{"addu", "elementwise", "stream.scale", true},
    ReferenceOperation{"relu", "elementwise", "elementwise.relu.fused", true},
    ReferenceOperation{"tanh,gelu", "elementwise", "elementwise.gelu.fused", true},
    ReferenceOperation{"softmax", "softmax", "softmax.library", false},
    ReferenceOperation{"ln", "layernorm", "norm.library", false}};

// Fitted by fit_relatives: the least mean |log error| over every second row of the three GPUs, each
// forecast from the constants of h100-sxm5. Lines through the times of elementwise rows over their
// bytes have intercepts of 13 to 24 µs, an upper bound of the launch cost.
constexpr double kLaunch_s = 21.2e-6;

}  // namespace

double reference_launch_s() {
  return kLaunch_s;
}

std::span<const ReferenceOperation> reference_operations() {
  return kOperations;
}

std::vector<ReferenceRow> reference_rows(const std::string& file, const std::string& text,
                                         std::string_view gpu) {
  std::vector<ReferenceRow> out;
  for (const ReferenceOperation& operation : kOperations) {
    TableQuery query;
    query.kernel = operation.kernel;
    query.gpu = gpu;
    query.where = {{"op", std::string(operation.ops)}};
    if (operation.by_elements) {
      query.set = {{"n", "rows*cols"}, {"threads", "128"}, {"vector_bytes", "16"}, {"loads", "1"}};
    }
    query.cache = CacheState::steady;
    bool fitted = true;
    for (const TableRow& row : parse_table(file, text, query).rows) {
      out.push_back({operation.group, row.measured, row.line, fitted});
      fitted = !fitted;
    }
  }
  return out;
}

}  // namespace roofcast::validation
