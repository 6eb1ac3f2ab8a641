#pragma once
// Reads the rows of a CSV (RFC 4180) one by one, as views of its text.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::validation {

class CsvRows {
 public:
  /// `text` must outlive this; doubled quotation marks in its fields are made single in place.
  explicit CsvRows(std::string& text) : text_(text) {}

  /// Reads the next row; false at the end. Fields stay valid. Quoted fields may hold separators and
  /// line ends.
  bool next(std::vector<std::string_view>& fields);
  /// The line on which the next row begins, without consuming it.
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
