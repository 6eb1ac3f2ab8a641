#pragma once
// Queries, one JSON object a line, answered one JSON object a line.
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/by_name.hpp"
#include "cli/input/device.hpp"
#include "cli/input/query.hpp"
#include "cli/output/json_writer.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// Writes what the command answers to one checked question, a JSON value. Throws InputError.
using WriteAnswer = std::function<void(JsonWriter&, const KernelRef&, const Problem&, const Gpu&,
                                       const Assumptions&)>;
/// A forecast, as `predict` writes it.
void write_forecast(JsonWriter& json, const KernelRef& kernel, const Problem& problem,
                    const Gpu& gpu, const Assumptions& assumptions);

/// Values for lines that do not give their own.
struct BatchDefaults {
  DeviceOptions device;
  std::string kernel;  ///< empty: every line names one
  /// Kernel files that lines may name, by path or by the name in the file. A line opens no file
  /// itself, except the config.json of a model.
  std::vector<std::string> kernel_files;
  std::optional<std::string> gpu;
  std::optional<DType> dtype;
  Assumptions assumptions;
  WriteAnswer write = write_forecast;
};

class Batch {
 public:
  /// Throws UsageError where the defaults name an unknown kernel or GPU, or a kernel file has the
  /// name of another kernel; SpecError for faults in a kernel file.
  explicit Batch(BatchDefaults defaults);

  /// Appends the answer, one line. False if it is {"error":…,"line":…}.
  bool answer(std::string_view line, std::int64_t number, fmt::memory_buffer& out);

 private:
  void answer_line(std::string_view line, fmt::memory_buffer& out);
  void answer_collective(const QueryField& kernel, const QueryField* gpu_field,
                         fmt::memory_buffer& out);
  void answer_model(const QueryField& model, const QueryField* gpu_field, fmt::memory_buffer& out);
  const Gpu& device_of(const QueryField* field);
  void add_kernel_file(const std::string& path);
  const KernelRef& kernel(std::string_view name);
  const Gpu& gpu(std::string_view name);
  const Gpu& changed(const std::string& name, const QueryFields& set);

  BatchDefaults defaults_;
  Query query_;
  ByName<KernelRef> kernels_;
  ByName<Gpu> gpus_;
  ByName<Gpu> changed_;  ///< GPUs with overrides, by name and "set"
};

}  // namespace roofcast::cli
