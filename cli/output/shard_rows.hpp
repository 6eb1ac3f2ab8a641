#pragma once
// Rows of a search that several tasks share: each says which of all points it is, so that `merge`
// can put them in order and see that none is missing.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "validation/runs/shard.hpp"

namespace roofcast::cli {

class ShardRows {
 public:
  /// Of `points` in all.
  ShardRows(const validation::Shard& shard, std::size_t points) : shard_(shard), points_(points) {}

  bool is_whole() const { return shard_.is_whole(); }
  /// Goes to the next point; whether it is this shard's.
  bool next() { return shard_.holds(++position_); }

  /// Around a row of CSV, and the name of its column before the header.
  static constexpr std::string_view kColumn = "point,";
  void begin_csv(fmt::memory_buffer& out) const;
  /// Around a JSON object, without the end of line.
  void begin_json(fmt::memory_buffer& out) const;
  void end_json(fmt::memory_buffer& out) const;

 private:
  validation::Shard shard_;
  std::size_t points_;
  std::size_t position_ = static_cast<std::size_t>(-1);
};

/// A file that `sweep --shard` or `model --shard` wrote.
struct ShardFile {
  std::string name;
  std::string text;
};

/// Whether the text is one: CSV, an array of JSON, or JSON lines whose rows say their point.
bool is_shard_file(const std::string& text);

/// The table as one task would have written it. Throws InputError where the files are of different
/// kinds or searches, and where a point is missing or there twice.
std::string merge_shard_files(const std::vector<ShardFile>& files);

}  // namespace roofcast::cli
