#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "cli/output/terminal.hpp"

namespace roofcast::cli {

enum class Align : unsigned char { left, right };

/// Columns as wide as their widest cell; where that is more than the style's width, the widest
/// texts (columns aligned left) are wrapped and nothing is cut off. What cells quote from files is
/// shown, not obeyed. Emphasis is by row, so that widths stay those of the text.
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
  /// The row's lines, one where no cell is wider than its column.
  std::vector<std::string> lines(const Cells& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace roofcast::cli
