#pragma once
// The kernels of Nsight Compute's tables, with numbers as text.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "validation/profiles/csv_numbers.hpp"
#include "validation/profiles/csv_rows.hpp"
#include "validation/profiles/ncu_metrics.hpp"

namespace roofcast::validation {

/// A metric with its unit. Below kMetrics `metric` is a Metric, else kMetrics + a position in
/// NcuTable::flops.
struct NcuMeaning {
  std::uint32_t metric = 0;
  double scale = 1;  ///< SI factor of the unit
};

/// One metric of one kernel; kept small, since there may be millions.
struct NcuValue {
  const char* text = nullptr;
  std::uint32_t size = 0;
  std::uint32_t meaning = 0;  ///< position in NcuTable::meanings

  std::string_view view() const { return {text, size}; }
};

struct NcuKernel {
  std::string_view id, name, grid, block, device, capability, device_name;
  std::size_t line = 0;
  std::vector<NcuValue> values;
};

class NcuTable {
 public:
  /// Adds the kernels of a text, which must outlive this. Throws SpecError.
  void read(const std::string& file, std::string& text);

  const std::vector<NcuKernel>& kernels() const { return kernels_; }
  const std::vector<FlopsMetric>& flops() const { return flops_; }
  const std::vector<NcuMeaning>& meanings() const { return meanings_; }
  const NumberStyle& style() const { return style_; }
  std::int64_t ignored_lines() const { return ignored_; }

 private:
  struct Columns {
    std::size_t id = kAbsent, name = kAbsent, grid = kAbsent, block = kAbsent, device = kAbsent,
                capability = kAbsent, device_name = kAbsent;
    std::size_t metric_name = kAbsent, metric_unit = kAbsent, metric_value = kAbsent;
    bool is_long() const { return metric_name != kAbsent; }
  };
  static constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
  using Fields = std::vector<std::string_view>;

  void begin_table(const std::string& file, std::size_t line, const Fields& header);
  void take_row(const Fields& fields, std::size_t line);
  void expect_time(std::uint32_t metric, std::string_view unit, std::size_t line) const;
  void take_value(NcuKernel& kernel, std::uint32_t meaning, std::string_view text);
  NcuKernel& kernel_of(const Fields& fields, std::size_t line);
  std::uint32_t meaning_of(std::string_view metric, std::string_view unit);

  std::string file_;  // the file read last
  Columns columns_;
  Fields header_, units_;
  std::vector<std::pair<std::size_t, std::uint32_t>> metrics_;  // column and meaning
  std::unordered_map<std::string, std::uint32_t> known_;        // meaning by metric and unit
  std::unordered_map<std::string, std::size_t> by_key_;         // kernels of earlier tables
  std::size_t tables_ = 0;
  std::vector<NcuKernel> kernels_;
  std::vector<std::size_t> seen_in_;  // the last table with the kernel, by kernel
  std::vector<FlopsMetric> flops_;
  std::vector<NcuMeaning> meanings_;
  NumberStyle style_;
  std::int64_t ignored_ = 0;
};

}  // namespace roofcast::validation
