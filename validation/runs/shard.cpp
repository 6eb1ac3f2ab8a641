#include "validation/runs/shard.hpp"

#include <fmt/format.h>

#include <string_view>

#include "model/types/problem.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::validation {
std::string text_of(const Shard& shard) {
  return fmt::format("{}/{}", shard.index, shard.count);
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos) {
    const auto index = number_of<std::size_t>(std::string_view(text).substr(0, slash));
    const auto count = number_of<std::size_t>(std::string_view(text).substr(slash + 1));
    if (index && count && *index < *count) return {*index, *count};
  }
  throw InputError(fmt::format(
      "expected a shard i/n with i from 0 to n-1, found \"{}\". Mend: for four shards write 0/4, "
      "1/4, 2/4 and 3/4.",
      text));
}

std::optional<Shard> slurm_shard(const std::function<const char*(const char*)>& get) {
  const char* id_text = get("SLURM_ARRAY_TASK_ID");
  const char* count_text = get("SLURM_ARRAY_TASK_COUNT");
  if (id_text == nullptr || count_text == nullptr) return std::nullopt;
  const char* first_text = get("SLURM_ARRAY_TASK_MIN");
  const auto id = number_of<std::size_t>(id_text);
  const auto count = number_of<std::size_t>(count_text);
  const auto first = number_of<std::size_t>(first_text == nullptr ? "0" : first_text);
  if (id && count && first && *id >= *first && *id - *first < *count)
    return Shard{*id - *first, *count};
  throw InputError(
      fmt::format("expected the tasks of a Slurm array to be numbered without gaps, found task {} "
                  "of {} from {}. "
                  "Mend: submit with --array=0-{}, or give --shard i/n.",
                  id_text, count_text, first_text == nullptr ? "0" : first_text,
                  count && *count > 0 ? *count - 1 : 3));
}

}  // namespace roofcast::validation
