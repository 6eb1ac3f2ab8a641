#include "cli/output/shard_rows.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "model/types/problem.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {
namespace {

constexpr std::string_view kPoint = R"({"point":")";
constexpr std::string_view kAnswer = R"(","answer":)";

enum class Kind : unsigned char { empty, csv, array, lines };

Kind kind_of(std::string_view text) {
  if (text.empty()) return Kind::empty;
  if (text.starts_with(ShardRows::kColumn)) return Kind::csv;
  if (text.starts_with("[\n")) return Kind::array;
  return Kind::lines;
}

struct Row {
  std::size_t position = 0;
  std::size_t points = 0;
  std::string_view text;
};

/// Reads "17/96" before `end`; the text is what follows `end`.
std::optional<Row> numbered(std::string_view line, std::string_view end) {
  const std::size_t slash = line.find('/'), stop = line.find(end);
  if (slash == std::string_view::npos || stop == std::string_view::npos || slash > stop) {
    return std::nullopt;
  }
  const auto position = validation::number_of<std::size_t>(line.substr(0, slash));
  const auto points = validation::number_of<std::size_t>(line.substr(slash + 1, stop - slash - 1));
  if (!position || !points || *position >= *points) return std::nullopt;
  return Row{*position, *points, line.substr(stop + end.size())};
}

std::optional<Row> row_of(std::string_view line, Kind kind) {
  if (kind == Kind::csv) return numbered(line, ",");
  if (!line.starts_with(kPoint)) return std::nullopt;
  line.remove_prefix(kPoint.size());
  if (line.ends_with(',')) line.remove_suffix(1);  // the separator in an array
  if (!line.ends_with('}')) return std::nullopt;
  line.remove_suffix(1);
  return numbered(line, kAnswer);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The rows of all files, checked to be of one search.
class Rows {
 public:
  void add(const ShardFile& file) {
    const Kind kind = kind_of(file.text);
    if (kind == Kind::empty) return;
    if (kind_ == Kind::empty) {
      kind_ = kind;
      first_ = file.name;
    }
    if (kind != kind_) refuse(file.name, "is of another kind than " + first_);
    const std::vector<std::string_view> lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) add_line(file.name, lines[i], i);
  }

  std::string text() {
    std::sort(rows_.begin(), rows_.end(),
              [](const Row& left, const Row& right) { return left.position < right.position; });
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].position > i) missing(i);
      if (rows_[i].position < i) {
        throw InputError(
            fmt::format("point {} is there twice: name each shard once", rows_[i].position));
      }
    }
    if (rows_.empty()) throw InputError("the files hold no point: name the files of all shards");
    if (rows_.size() < points_) missing(rows_.size());
    return joined();
  }

 private:
  [[noreturn]] static void refuse(const std::string& file, const std::string& what) {
    throw InputError(fmt::format("{} {}: merge the shards of one search", file, what));
  }
  [[noreturn]] void missing(std::size_t position) const {
    throw InputError(
        fmt::format("point {} of {} is missing: name the files of all shards", position, points_));
  }

  void add_line(const std::string& file, std::string_view line, std::size_t number) {
    if (kind_ == Kind::csv && number == 0) {
      const std::string_view header = line.substr(ShardRows::kColumn.size());
      if (header_.empty()) header_ = header;
      if (header != header_) refuse(file, "has other columns than " + first_);
      return;
    }
    if (line.empty() || (kind_ == Kind::array && (line == "[" || line == "]"))) return;
    const auto row = row_of(line, kind_);
    if (!row) refuse(file, fmt::format("has no point in line {}", number + 1));
    if (points_ == 0) points_ = row->points;
    if (row->points != points_) {
      refuse(file, fmt::format("is of {} points, others of {}", row->points, points_));
    }
    rows_.push_back(*row);
  }

  std::string joined() const {
    std::string text;
    if (kind_ == Kind::csv) text = fmt::format("{}\n", header_);
    if (kind_ == Kind::array) text = "[\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      text += rows_[i].text;
      if (kind_ == Kind::array && i + 1 < rows_.size()) text += ',';
      text += '\n';
    }
    if (kind_ == Kind::array) text += "]\n";
    return text;
  }

  Kind kind_ = Kind::empty;
  std::string first_;
  std::string_view header_;
  std::size_t points_ = 0;
  std::vector<Row> rows_;
};

}  // namespace

void ShardRows::begin_csv(fmt::memory_buffer& out) const {
  if (!is_whole()) fmt::format_to(std::back_inserter(out), "{}/{},", position_, points_);
}

void ShardRows::begin_json(fmt::memory_buffer& out) const {
  if (is_whole()) return;
  fmt::format_to(std::back_inserter(out), "{}{}/{}{}", kPoint, position_, points_, kAnswer);
}

void ShardRows::end_json(fmt::memory_buffer& out) const {
  if (!is_whole()) out.push_back('}');
}

bool is_shard_file(const std::string& text) {
  return text.empty() || text.starts_with(ShardRows::kColumn) || text.starts_with(kPoint) ||
         text.starts_with("[\n");
}

std::string merge_shard_files(const std::vector<ShardFile>& files) {
  Rows rows;
  for (const ShardFile& file : files) rows.add(file);
  return rows.text();
}

}  // namespace roofcast::cli
