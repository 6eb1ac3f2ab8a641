#include "validation/profiles/csv_rows.hpp"

#include <algorithm>

namespace roofcast::validation {

std::string_view CsvRows::peek_line() const {
  const std::string_view rest = std::string_view(text_).substr(at_);
  std::string_view line = rest.substr(0, rest.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void CsvRows::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  line_ = next_line_++;
  at_ = end == std::string::npos ? text_.size() : end + 1;
}

bool CsvRows::next(std::vector<std::string_view>& fields) {
  fields.clear();
  if (at_ >= text_.size()) return false;
  line_ = next_line_;
  for (;;) {
    fields.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
    if (at_ >= text_.size()) break;
    const char end = text_[at_++];
    if (end == separator_) continue;
    if (end == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    break;
  }
  ++next_line_;
  return true;
}

std::string_view CsvRows::quoted() {
  const std::size_t begin = ++at_;
  std::size_t to = begin;
  open_ = true;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '"') {
      if (at_ >= text_.size() || text_[at_] != '"') {
        open_ = false;
        break;
      }
      ++at_;
    }
    if (c == '\n') ++next_line_;
    text_[to++] = c;
  }
  // Drops text between the closing quotation mark and the separator.
  while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' &&
         text_[at_] != '\r') {
    ++at_;
  }
  return std::string_view(text_).substr(begin, to - begin);
}

std::string_view CsvRows::plain() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' &&
         text_[at_] != '\r') {
    ++at_;
  }
  return std::string_view(text_).substr(begin, at_ - begin);
}

}  // namespace roofcast::validation
