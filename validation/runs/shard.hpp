#pragma once
// A sweep divided among the tasks of a job array: shard i of n has the cases at positions i modulo
// n.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace roofcast::validation {

struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;

  constexpr bool is_whole() const { return count == 1; }
  constexpr bool holds(std::size_t position) const { return position % count == index; }
  friend constexpr bool operator==(const Shard&, const Shard&) = default;
};

/// "2/4"
std::string text_of(const Shard& shard);

/// "i/n" with 0 ≤ i < n. Throws InputError.
Shard parse_shard(const std::string& text);

/// The shard of the present Slurm array task, counted from SLURM_ARRAY_TASK_MIN; nothing outside an
/// array job. `get` is std::getenv or a stand-in. Throws InputError for tasks not numbered without
/// gaps.
std::optional<Shard> slurm_shard(const std::function<const char*(const char*)>& get);

}  // namespace roofcast::validation
