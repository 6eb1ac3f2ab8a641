#pragma once
// What a profile says: the kernels of a GPU, and the operators that launched them, with their
// shapes where these were recorded. read_trace reads the traces of torch.profiler, read_ncu
// (ncu.hpp) Nsight Compute's tables.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/launch.hpp"
#include "model/types/work.hpp"
#include "validation/profiles/byte_stream.hpp"

namespace roofcast::validation {

struct TensorShape {
  std::vector<std::int64_t> dims, strides;  ///< elements; strides may be absent
  std::string type;                         ///< as PyTorch names it: "c10::BFloat16", "float"
  std::size_t argument = 0;  ///< position among the operator's; tensors of a list share it
};

/// PyTorch names a tensor by its C++ type; "Scalar", "TensorList" and "" are none.
constexpr bool names_a_tensor(std::string_view type) {
  return !type.empty() && type.front() >= 'a' && type.front() <= 'z';
}

/// What hardware counters say of a kernel, a call on average. Absent where they were not read.
struct CountedWork {
  std::optional<double> dram_read_bytes, dram_write_bytes;
  std::optional<double> l2_read_bytes, l2_write_bytes;
  std::optional<double> vector_flops;  ///< on the SIMT pipes
  DType vector_type = DType::fp32;     ///< that most of them are of
  FlopsByType tensor_flops;
  bool has_tensor_flops = false;
  std::optional<double> sm_clock_hz;
  std::optional<double> warp_instructions;
  std::optional<double> tensor_busy;  ///< share of the cycles in which the tensor pipe works
  std::optional<double> dram_busy;    ///< share of the time in which DRAM moves bytes

  double flops() const { return vector_flops.value_or(0) + tensor_flops.total(); }
  std::optional<double> dram_bytes() const {
    if (!dram_read_bytes && !dram_write_bytes) return std::nullopt;
    return dram_read_bytes.value_or(0) + dram_write_bytes.value_or(0);
  }
};

/// Equal launches of one kernel.
struct ProfiledKernel {
  std::string name;
  std::int64_t calls = 0;
  double time_s = 0;                           ///< of all calls
  std::optional<Launch> launch{};              ///< registers and shared memory 0 where not said
  std::optional<double> achieved_occupancy{};  ///< share of the warps that an SM holds
  std::optional<double> said_waves{};          ///< as the profiler counts them
  std::optional<double> moved_bytes{};         ///< of a memset or a copy on the GPU
  CountedWork counted{};
};

/// Equal calls of an ATen operator and the kernels that they launched.
struct TracedCall {
  std::string name;  ///< "aten::mm"; a kernel's own name where no operator is known
  std::vector<TensorShape> inputs;
  std::vector<std::string> values;  ///< of inputs that are no tensors, by position
  std::vector<ProfiledKernel> kernels;
  std::int64_t count = 0;
  double kernels_s = 0;      ///< of all of their kernels
  bool by_operator = false;  ///< an operator launched them
};

/// One call in the order in which the GPU came to them.
struct CallInTime {
  std::size_t call = 0;  ///< of Trace::calls
  double begin_s = 0;    ///< of its first kernel, from the profile's origin
  double time_s = 0;     ///< of its kernels
};

struct Trace {
  std::string device;              ///< as the driver names it; empty: not said
  std::string compute_capability;  ///< "9.0"; empty: not said
  bool counted = false;  ///< kernels one by one under counters: time between them says nothing
  std::vector<TracedCall> calls;  ///< distinct ones, in the order of their first
  std::vector<CallInTime> sequence;
  std::int64_t kernels = 0;
  double busy_s = 0;               ///< of all kernels
  double span_s = 0;               ///< from the first kernel's begin to the last one's end
  std::int64_t ignored_lines = 0;  ///< of a table: what the program itself printed in between
};

/// Kernels of one device: where the trace has several, `device` must choose. Throws SpecError: no
/// such file, no JSON (with what was read of a file cut off), no kernels, several devices.
Trace read_trace(ByteStream& stream, const std::string& file, std::optional<int> device = {});
Trace read_trace(const std::string& path, std::optional<int> device = {});

}  // namespace roofcast::validation
