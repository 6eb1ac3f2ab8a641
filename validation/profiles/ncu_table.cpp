#include "validation/profiles/ncu_table.hpp"

#include <algorithm>
#include <limits>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {
namespace {

constexpr std::string_view kKernelName = "Kernel Name";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::uint32_t kNoMeaning = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void refuse(const std::string& file, std::size_t line, const std::string& expected,
                         const std::string& mend) {
  throw specs::SpecError(file, "/line " + std::to_string(line), expected, mend);
}

bool is_header(std::string_view line) {
  return line.find(kKernelName) != line.npos && line.find("ID") != line.npos;
}

std::string_view at(const std::vector<std::string_view>& fields, std::size_t column) {
  return column < fields.size() ? fields[column] : std::string_view();
}

std::string key_of(const NcuKernel& kernel) {
  std::string key(kernel.id);
  key.append("\n").append(kernel.name).append("\n").append(kernel.grid);
  return key;
}

}  // namespace

void NcuTable::read(const std::string& file, std::string& text) {
  file_ = file;
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  CsvRows rows(text);
  Fields fields;
  bool in_table = false, quoted = false;
  while (true) {
    const std::string_view line = rows.peek_line();
    const bool starts = is_header(line) && (!in_table || line.find("Process ID") != line.npos);
    if (starts) {
      quoted = line.starts_with('"');
      const std::size_t commas =
          static_cast<std::size_t>(std::count(line.begin(), line.end(), ','));
      const auto semicolons = static_cast<std::size_t>(std::count(line.begin(), line.end(), ';'));
      rows.set_separator(semicolons > commas ? ';' : ',');
    } else if (!in_table || line.starts_with("==") || line.empty() ||
               (quoted && !line.starts_with('"'))) {
      const bool told = in_table && !line.empty() && !line.starts_with("==");
      ignored_ += told ? 1 : 0;
      rows.skip_line();
      if (rows.at_end()) break;
      continue;
    }
    if (!rows.next(fields)) break;
    if (starts) {
      begin_table(file, rows.line(), fields);
      in_table = true;
    } else if (fields.size() != header_.size() || rows.ends_in_quotes()) {
      refuse(file, rows.line(),
             std::to_string(header_.size()) + " fields as in the header, not " +
                 std::to_string(fields.size()) + (rows.at_end() ? " (the file ends there)" : ""),
             "export the table again with ncu --csv; a file cut off cannot be read");
    } else {
      take_row(fields, rows.line());
    }
    if (rows.at_end()) break;
  }
  if (in_table) return;
  refuse(file, 1, "a table of Nsight Compute with a column \"Kernel Name\"",
         "write it with ncu --csv --page raw");
}

void NcuTable::begin_table(const std::string& file, std::size_t line, const Fields& header) {
  header_ = header;
  columns_ = {};
  units_.clear();
  metrics_.clear();
  ++tables_;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (seen_in_[i] + 1 == tables_) by_key_[key_of(kernels_[i])] = i;
  }
  struct Named {
    std::string_view name;
    std::size_t Columns::*place;
  };
  constexpr std::array kNamed = {Named{"ID", &Columns::id},
                                 Named{kKernelName, &Columns::name},
                                 Named{"Grid Size", &Columns::grid},
                                 Named{"Block Size", &Columns::block},
                                 Named{"Device", &Columns::device},
                                 Named{"CC", &Columns::capability},
                                 Named{"device__attribute_display_name", &Columns::device_name},
                                 Named{"Metric Name", &Columns::metric_name},
                                 Named{"Metric Unit", &Columns::metric_unit},
                                 Named{"Metric Value", &Columns::metric_value}};
  for (std::size_t i = 0; i < header.size(); ++i) {
    for (const Named& one : kNamed) {
      if (header[i] == one.name) columns_.*one.place = i;
    }
  }
  const bool half = columns_.is_long() && columns_.metric_value == kAbsent;
  if (columns_.id == kAbsent || half) {
    refuse(file, line, "the columns ID and Kernel Name, and Metric Value beside Metric Name",
           "write it with ncu --csv --page raw");
  }
}

std::uint32_t NcuTable::meaning_of(std::string_view metric, std::string_view unit) {
  std::string key(metric);
  key.append("\n").append(unit);
  const auto [known, is_new] = known_.emplace(std::move(key), kNoMeaning);
  if (!is_new) return known->second;
  NcuMeaning meaning{0, scale_of_unit(unit)};
  if (const auto named = metric_named(metric, unit)) {
    meaning.metric = static_cast<std::uint32_t>(*named);
  } else if (const auto flops = flops_metric_named(metric)) {
    meaning.metric = static_cast<std::uint32_t>(kMetrics + flops_.size());
    flops_.push_back(*flops);
  } else {
    return kNoMeaning;
  }
  known->second = static_cast<std::uint32_t>(meanings_.size());
  meanings_.push_back(meaning);
  return known->second;
}

void NcuTable::take_value(NcuKernel& kernel, std::uint32_t meaning, std::string_view text) {
  constexpr std::size_t kLongest = 1000;  // characters of a number
  if (meaning == kNoMeaning || text.empty() || text.size() > kLongest) return;
  // The value of an earlier pass is kept.
  const bool known =
      std::any_of(kernel.values.begin(), kernel.values.end(), [&](const NcuValue& value) {
        return meanings_[value.meaning].metric == meanings_[meaning].metric;
      });
  if (known) return;
  style_.see(text);
  kernel.values.push_back({text.data(), static_cast<std::uint32_t>(text.size()), meaning});
}

void NcuTable::expect_time(std::uint32_t meaning, std::string_view unit, std::size_t line) const {
  const bool is_time = meaning != kNoMeaning &&
                       meanings_[meaning].metric == static_cast<std::uint32_t>(Metric::time);
  if (!is_time || is_unit_of_time(unit)) return;
  refuse(file_, line,
         "a unit of time (ns, us, ms, s) of a kernel's time, not \"" +
             std::string(unit.substr(0, 100)) + '"',
         "export the table again with ncu --csv");
}

void NcuTable::take_row(const Fields& fields, std::size_t line) {
  if (at(fields, columns_.id).empty() && !columns_.is_long()) {
    units_ = fields;
    return;
  }
  if (columns_.is_long()) {
    const std::string_view unit = at(fields, columns_.metric_unit);
    NcuKernel& kernel = kernel_of(fields, line);
    const std::string_view metric = at(fields, columns_.metric_name);
    if (metric.empty()) return;  // a row with a rule's advice
    const std::uint32_t meaning = meaning_of(metric, unit);
    expect_time(meaning, unit, line);
    take_value(kernel, meaning, at(fields, columns_.metric_value));
    return;
  }
  if (metrics_.empty()) {
    for (std::size_t i = 0; i < header_.size(); ++i) {
      // A table without a row of units is in base units: times in nanoseconds.
      const bool bare_time = units_.empty() && metric_named(header_[i], "") == Metric::time;
      const std::string_view unit = bare_time ? "nsecond" : at(units_, i);
      const std::uint32_t meaning = meaning_of(header_[i], unit);
      expect_time(meaning, unit, line);
      if (meaning != kNoMeaning) metrics_.emplace_back(i, meaning);
    }
  }
  NcuKernel& kernel = kernel_of(fields, line);
  kernel.values.reserve(metrics_.size());
  for (const auto& [column, meaning] : metrics_) take_value(kernel, meaning, fields[column]);
}

NcuKernel& NcuTable::kernel_of(const Fields& fields, std::size_t line) {
  NcuKernel found{at(fields, columns_.id),
                  at(fields, columns_.name),
                  at(fields, columns_.grid),
                  at(fields, columns_.block),
                  at(fields, columns_.device),
                  at(fields, columns_.capability),
                  at(fields, columns_.device_name),
                  line,
                  {}};
  // In a long table the rows of a kernel are consecutive.
  if (columns_.is_long() && !kernels_.empty() && seen_in_.back() == tables_ &&
      kernels_.back().id == found.id && kernels_.back().name == found.name) {
    return kernels_.back();
  }
  // The same kernel in another table is another pass of it; in the same table it is another launch.
  const auto known = by_key_.empty() ? by_key_.end() : by_key_.find(key_of(found));
  if (known != by_key_.end() && seen_in_[known->second] != tables_) {
    seen_in_[known->second] = tables_;
    return kernels_[known->second];
  }
  seen_in_.push_back(tables_);
  return kernels_.emplace_back(std::move(found));
}

}  // namespace roofcast::validation
