#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace roofcast::cli {

/// The lines of a batch, from a file, a pipe or standard input ("-"), in a buffer of fixed size.
class QueryLines {
 public:
  /// A longer line is cut here. No query is as long (Query::kLongest), so it is answered by an
  /// error, and the next line is the next query.
  static constexpr std::size_t kLongestLine = std::size_t{1} << 20;

  /// Throws InputError where the file cannot be opened.
  explicit QueryLines(const std::string& path);
  ~QueryLines();
  QueryLines(const QueryLines&) = delete;
  QueryLines(QueryLines&&) = delete;
  QueryLines& operator=(const QueryLines&) = delete;
  QueryLines& operator=(QueryLines&&) = delete;

  /// The next line without its end, valid until the next call; nothing at the end of input. Throws
  /// InputError for a read error and for a line that has no end (/dev/zero).
  std::optional<std::string_view> next();
  /// True if next() would have to read, perhaps wait, first.
  bool needs_read() const;

 private:
  bool fill();
  void skip_cut_line();

  std::string name_;
  int descriptor_;
  std::string block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;
  bool cut_ = false;  ///< the last line goes on in the input
};

}  // namespace roofcast::cli
