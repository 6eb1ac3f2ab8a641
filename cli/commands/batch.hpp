#pragma once
// Queries, one JSON object a line, answered one JSON object a line.
#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/input/device.hpp"
#include "cli/input/query.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// What holds for lines that do not say otherwise.
struct BatchDefaults {
  DeviceOptions device;
  std::optional<std::string> gpu;
  std::optional<DType> dtype;
  Assumptions assumptions;
};

class Batch {
 public:
  explicit Batch(BatchDefaults defaults);

  /// Appends the answer, one line. False if it is {"error":…,"line":…}.
  bool answer(std::string_view line, std::int64_t number, fmt::memory_buffer& out);

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  template <class Value>
  using ByName = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

  struct Refusal {
    std::string_view kind;
    std::string message;
  };

  std::optional<Refusal> try_line(std::string_view line, fmt::memory_buffer& out);
  void predict_line(std::string_view line, fmt::memory_buffer& out);
  const KernelRef& kernel(std::string_view name);
  const Gpu& gpu(std::string_view name);

  BatchDefaults defaults_;
  Query query_;
  ByName<KernelRef> kernels_;
  ByName<Gpu> gpus_;
};

}  // namespace roofcast::cli
