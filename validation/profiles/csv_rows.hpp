#pragma once
// The rows of a CSV (RFC 4180) one after the other, as views of its text.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::validation {

class CsvRows {
 public:
  /// `text` outlives this; doubled quotation marks in its fields are made single in place.
  explicit CsvRows(std::string& text) : text_(text) {}

  /// False at the end. Fields stay valid. Quoted fields may hold separators and ends of lines.
  bool next(std::vector<std::string_view>& fields);
  /// The whole line that the next row begins with; it stays the next.
  std::string_view peek_line() const;
  void skip_line();
  bool at_end() const { return at_ >= text_.size(); }
  std::size_t line() const { return line_; }     ///< of the row read last, from 1
  bool ends_in_quotes() const { return open_; }  ///< the last field was never closed
  void set_separator(char separator) { separator_ = separator; }

 private:
  std::string_view quoted();
  std::string_view plain();

  std::string& text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0, next_line_ = 1;
  char separator_ = ',';
  bool open_ = false;
};

}  // namespace roofcast::validation
