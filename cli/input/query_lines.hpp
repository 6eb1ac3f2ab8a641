#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace roofcast::cli {

/// The lines of a batch, from a file, a pipe or standard input ("-"), in a buffer of fixed size.
class QueryLines {
 public:
  /// next() returns this many bytes of a longer line and skips the rest. Query refuses a line of
  /// such length (Query::kLongest), so it is answered by one error.
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
  /// Whether next() has to read first, and perhaps wait.
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
  bool cut_ = false;  ///< the rest of the last line is still in the input
};

}  // namespace roofcast::cli
