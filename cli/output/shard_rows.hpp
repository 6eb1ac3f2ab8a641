#pragma once
// Rows of a search that several tasks share. Each row has its point's number among all, so that
// `merge` can order the rows and find missing ones.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "validation/runs/shard.hpp"

namespace roofcast::cli {

class ShardRows {
 public:
  /// `points` is the number of points of the whole search.
  ShardRows(const validation::Shard& shard, std::size_t points) : shard_(shard), points_(points) {}

  bool is_whole() const { return shard_.is_whole(); }
  /// Goes to the next point and returns whether it belongs to this shard.
  bool next() { return shard_.holds(++position_); }

  /// The first column of a shard's CSV header; begin_csv writes its cell before a row.
  static constexpr std::string_view kColumn = "point,";
  void begin_csv(fmt::memory_buffer& out) const;
  /// Written around the JSON object of a row, without the end of line.
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

/// Whether the text begins as one: CSV, a JSON array or JSON lines with points; an empty file too.
bool is_shard_file(const std::string& text);

/// The table as one task would have written it. InputError where the files are of different kinds
/// or searches, and where a point is missing or there twice.
std::string merge_shard_files(const std::vector<ShardFile>& files);

}  // namespace roofcast::cli
