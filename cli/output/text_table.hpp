#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/terminal.hpp"

namespace roofcast::cli {

enum class Align : unsigned char { left, right };

/// A table whose columns are as wide as their widest cell. Where that exceeds the style's width,
/// the widest columns that are aligned left are wrapped; nothing is cut off. Control characters in
/// cells are shown as escapes. Emphasis is by row, so that its codes do not change the widths.
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells, bool emphasized = false);
  std::string text(const Style& style, std::string_view indent = "") const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool emphasized;
  };
  using Cells = std::vector<std::string>;
  std::vector<std::size_t> widths(std::size_t available) const;
  std::string line(const Cells& cells, const std::vector<std::size_t>& widths) const;
  /// The lines of a row: several where a cell is wider than its column.
  std::vector<std::string> lines(const Cells& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace roofcast::cli
