#pragma once
// The contents of a profile: a GPU's kernels and the operators that launched them, with their
// shapes if these were recorded. read_trace reads traces of torch.profiler, read_ncu (ncu.hpp)
// tables of Nsight Compute.
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
  std::size_t argument = 0;  ///< position among the arguments; tensors of a list share it
};

/// Whether PyTorch's type name is a tensor's: a C++ type, not "Scalar", "TensorList" or "".
constexpr bool names_a_tensor(std::string_view type) {
  return !type.empty() && type.front() >= 'a' && type.front() <= 'z';
}

/// Hardware counters of a kernel, mean per call. Absent if they were not read.
struct CountedWork {
  std::optional<double> dram_read_bytes, dram_write_bytes;
  std::optional<double> l2_read_bytes, l2_write_bytes;
  std::optional<double> vector_flops;  ///< on the SIMT pipes
  DType vector_type = DType::fp32;     ///< the type of most of them
  FlopsByType tensor_flops;
  bool has_tensor_flops = false;
  std::optional<double> sm_clock_hz;
  std::optional<double> warp_instructions;
  std::optional<double> tensor_busy;  ///< share of cycles in which the tensor pipe is busy
  std::optional<double> dram_busy;    ///< share of the time in which DRAM is busy

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
  double time_s = 0;                           ///< of all calls together
  std::optional<Launch> launch{};              ///< registers and shared memory are 0 if unknown
  std::optional<double> achieved_occupancy{};  ///< share of the warps that an SM can hold
  std::optional<double> said_waves{};          ///< as the profiler reports them
  std::optional<double> moved_bytes{};         ///< of a memset or copy
  CountedWork counted{};
};

/// Equal calls of an ATen operator and the kernels that they launched.
struct TracedCall {
  std::string name;  ///< "aten::mm"; the kernel's name if no operator is known
  std::vector<TensorShape> inputs;
  std::vector<std::string> values;  ///< of all arguments, by position; empty for tensors
  std::vector<ProfiledKernel> kernels;
  std::int64_t count = 0;
  double kernels_s = 0;      ///< time of all their kernels
  bool by_operator = false;  ///< named by the operator that launched the kernels
};

/// One call, in order of time.
struct CallInTime {
  std::size_t call = 0;  ///< position in Trace::calls
  double begin_s = 0;    ///< begin of its first kernel, from the profile's origin
  double time_s = 0;     ///< time of its kernels
};

struct Trace {
  std::string device;              ///< as the driver names it; empty: unknown
  std::string compute_capability;  ///< "9.0"; empty: unknown
  bool counted = false;            ///< kernels one by one, with counters: gaps mean nothing
  std::vector<TracedCall> calls;   ///< distinct calls, by first occurrence
  std::vector<CallInTime> sequence;
  std::int64_t kernels = 0;
  double busy_s = 0;               ///< sum over all kernels
  double span_s = 0;               ///< from the begin of the first kernel to the last end
  std::int64_t ignored_lines = 0;  ///< of a table: lines that the profiled program printed
};

/// Reads the kernels of one device, which `device` must choose if there are several. Throws
/// SpecError for no such file, no JSON (with the number of events read from a file cut off), no
/// kernels, or several devices if none is chosen.
Trace read_trace(ByteStream& stream, const std::string& file, std::optional<int> device = {});
Trace read_trace(const std::string& path, std::optional<int> device = {});

}  // namespace roofcast::validation
