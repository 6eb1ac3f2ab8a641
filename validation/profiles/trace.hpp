#pragma once
// A trace of torch.profiler (Chrome's JSON, plain or gzip): the kernels of the GPU, and the operator that
// launched each, with its shapes where the profiler recorded them (record_shapes=True).
#include <cstdint>
#include <string>
#include <vector>

namespace roofcast::validation {

struct TensorShape {
  std::vector<std::int64_t> dims, strides;  ///< elements; strides may be absent
  std::string type;                         ///< as PyTorch names it: "c10::BFloat16", "float"
};

/// One call of an ATen operator and the kernels that it launched.
struct TracedCall {
  std::string name;  ///< "aten::mm"; a kernel's own name where no operator is known
  std::vector<TensorShape> inputs;
  std::vector<std::string> values;  ///< of inputs that are no tensors, by position
  std::vector<std::string> kernels;
  double begin_s = 0;    ///< of its first kernel, from the trace's origin
  double kernels_s = 0;  ///< of its kernels, added up
};

struct Trace {
  std::string device;             ///< as the driver names it; empty: not said
  std::vector<TracedCall> calls;  ///< by begin
  std::int64_t kernels = 0;
  double busy_s = 0;  ///< of all kernels
  double span_s = 0;  ///< from the first kernel's begin to the last one's end
};

/// Throws SpecError: no such file, no JSON (with what was read of a file cut off), no kernels.
Trace read_trace(const std::string& path);

}  // namespace roofcast::validation
