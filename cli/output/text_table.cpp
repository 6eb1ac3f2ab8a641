#include "cli/output/text_table.hpp"

#include <algorithm>

#include "cli/output/utf8.hpp"

namespace roofcast::cli {

void TextTable::add(std::vector<std::string> cells, bool emphasized) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), emphasized});
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - display_width(cells[i]), ' ');
    if (i > 0) text += "  ";
    text += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::string TextTable::text(const Style& style, std::string_view indent) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.push_back(columns_[i].title);
    widths.push_back(display_width(columns_[i].title));
    for (const Row& row : rows_) widths[i] = std::max(widths[i], display_width(row.cells[i]));
  }
  std::string text;
  const bool titled = std::any_of(titles.begin(), titles.end(),
                                  [](const std::string& title) { return !title.empty(); });
  if (titled) text.append(indent).append(style.heading(line(titles, widths))) += '\n';
  for (const Row& row : rows_) {
    const std::string cells = line(row.cells, widths);
    text.append(indent).append(row.emphasized ? style.binding(cells) : cells) += '\n';
  }
  return text;
}

}  // namespace roofcast::cli
