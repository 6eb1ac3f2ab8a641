// The kernels behind a C interface, as a shared library: for programs in other languages that run
// them beside other libraries in one process (validation/libraries/).
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/catalog.hpp"

namespace {

using namespace roofcast;
using namespace roofcast::cuda;

/// The kernel and the problem that a caller names, with values in the order of its parameters.
struct Asked {
  const KernelEntry& entry;
  Problem problem;
};

Asked asked(const char* kernel, const char* dtype, const std::int64_t* values, int count) {
  const KernelEntry* const entry = cuda::find(kernel);
  if (entry == nullptr) throw std::runtime_error("no kernel " + std::string(kernel));
  const auto type = parse_dtype(dtype);
  if (!type) throw std::runtime_error("no type " + std::string(dtype));
  if (count < 0 || static_cast<std::size_t>(count) > Problem::kMaxParameters) {
    throw std::runtime_error("more values than a problem has");
  }
  Problem problem{.dtype = *type};
  for (int i = 0; i < count; ++i) problem[static_cast<std::size_t>(i)] = values[i];
  if (const std::string why = entry->unsupported(problem); !why.empty()) {
    throw std::runtime_error(why);
  }
  return {*entry, problem};
}

/// Returns the call's result; if it throws, writes a line to stderr and returns -1.
template <class Call>
int guarded(Call&& call) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "roofcast: %s\n", error.what());
    return -1;
  }
}

}  // namespace

extern "C" {

/// Writes the bytes of the first `capacity` scratch tensors of a problem. Returns the number of all
/// of them, or -1 if the kernel cannot run the problem.
int roofcast_scratch(const char* kernel, const char* dtype, const std::int64_t* values, int count,
                     std::int64_t* bytes, int capacity) {
  return guarded([&] {
    const Asked one = asked(kernel, dtype, values, count);
    int number = 0;
    for (const Tensor& tensor : one.entry.tensors(one.problem).scratch) {
      if (number < capacity) {
        bytes[number] = static_cast<std::int64_t>(size_bytes(tensor.dtype) *
                                                  static_cast<double>(tensor.elements));
      }
      ++number;
    }
    return number;
  });
}

/// Enqueues the kernel on the stream, with device addresses in the order of KernelEntry::tensors.
/// Returns 0, or -1 if it cannot run.
int roofcast_run(const char* kernel, const char* dtype, const std::int64_t* values, int count,
                 const void* const* inputs, int input_count, void* const* outputs, int output_count,
                 void* const* scratch, int scratch_count, void* stream) {
  return guarded([&] {
    const Asked one = asked(kernel, dtype, values, count);
    const auto size = [](int n) { return static_cast<std::size_t>(n); };
    one.entry.run(one.problem,
                  {std::span(inputs, size(input_count)), std::span(outputs, size(output_count)),
                   std::span(scratch, size(scratch_count))},
                  static_cast<cudaStream_t>(stream));
    return 0;
  });
}

}  // extern "C"
