#include "cli/output/text_table.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "cli/output/utf8.hpp"
#include "cli/output/visible_text.hpp"

namespace roofcast::cli {
namespace {

constexpr std::string_view kGap = "  ";

/// A cell's line may break at a space, and after each of the other characters.
constexpr std::string_view kBreaks = " ._/,:;=";

/// Cuts off the longest beginning of `text` that takes at most `width` columns, at a break where
/// there is one. `width` is at least 1.
std::string_view take_line(std::string_view& text, std::size_t width) {
  if (display_width(text) <= width) return std::exchange(text, {});
  std::size_t end = 0;
  for (std::size_t columns = 0; columns < width; ++columns) {
    end += std::max<std::size_t>(utf8_length(text.substr(end)), 1);
  }
  if (text[end] != ' ') {
    const std::size_t last = text.find_last_of(kBreaks, end - 1);
    if (last != std::string_view::npos && last > text.find_first_not_of(' ')) {
      end = text[last] == ' ' ? last : last + 1;
    }
  }
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(end);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return first;
}

std::size_t longest_piece(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kBreaks), text.size() - 1) + 1;
    longest = std::max(longest, display_width(text.substr(0, end)));
    text.remove_prefix(end);
  }
  return longest;
}

/// Narrows the widest columns, none below its least width, until `total` is at most `available`.
/// Returns the new total, which stays larger if all columns are at their least.
std::size_t narrow(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least,
                   std::size_t total, std::size_t available) {
  for (; total > available; --total) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > least[i] && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) break;
    --*widest;
  }
  return total;
}

}  // namespace

void TextTable::add(std::vector<std::string> cells, bool emphasized) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = visible(cell);
  rows_.push_back({std::move(cells), emphasized});
}

std::vector<std::size_t> TextTable::widths(std::size_t available) const {
  constexpr std::size_t kNarrowestText = 6;
  std::vector<std::size_t> widths;
  std::vector<std::size_t> whole_pieces;
  std::vector<std::size_t> cut_pieces;
  for (const Column& column : columns_) {
    const std::size_t i = widths.size();
    const std::size_t title = display_width(column.title);
    std::size_t width = title;
    std::size_t piece = std::max(title, kNarrowestText);
    for (const Row& row : rows_) {
      width = std::max(width, display_width(row.cells[i]));
      piece = std::max(piece, longest_piece(row.cells[i]));
    }
    widths.push_back(width);
    whole_pieces.push_back(column.align == Align::right ? width : piece);
    cut_pieces.push_back(column.align == Align::right ? width : std::max(title, kNarrowestText));
  }
  const std::size_t total = std::accumulate(widths.begin(), widths.end(), std::size_t{0}) +
                            kGap.size() * (columns_.size() - 1);
  narrow(widths, cut_pieces, narrow(widths, whole_pieces, total, available), available);
  return widths;
}

std::string TextTable::line(const Cells& cells, const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - display_width(cells[i]), ' ');
    if (i > 0) text += kGap;
    text += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::vector<std::string> TextTable::lines(const Cells& cells,
                                          const std::vector<std::size_t>& widths) const {
  std::vector<std::string_view> rest(cells.begin(), cells.end());
  std::vector<std::string> lines;
  do {
    Cells part;
    for (std::size_t i = 0; i < rest.size(); ++i) part.emplace_back(take_line(rest[i], widths[i]));
    lines.push_back(line(part, widths));
  } while (!std::all_of(rest.begin(), rest.end(), [](std::string_view r) { return r.empty(); }));
  return lines;
}

std::string TextTable::text(const Style& style, std::string_view indent) const {
  Cells titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const auto columns = widths(style.width() - std::min(style.width(), indent.size()));
  std::string text;
  const bool titled = std::any_of(titles.begin(), titles.end(),
                                  [](const std::string& title) { return !title.empty(); });
  if (titled) text.append(indent).append(style.heading(line(titles, columns))) += '\n';
  for (const Row& row : rows_) {
    for (const std::string& cells : lines(row.cells, columns)) {
      text.append(indent).append(row.emphasized ? style.binding(cells) : cells) += '\n';
    }
  }
  return text;
}

}  // namespace roofcast::cli
