#pragma once
// Suites of cases to measure, expanded from sweeps/*.json.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {

/// A case without a cache state is timed steady if a launch is shorter than this, since the cost of
/// events would distort it, else cold.
inline constexpr double kSteadyBelow_s = 50e-6;

struct SuiteCase {
  std::string kernel;
  Problem problem;
  std::optional<CacheState> cache;  ///< absent: see kSteadyBelow_s
  std::int64_t position = 0;        ///< in the suite

  friend bool operator==(const SuiteCase& a, const SuiteCase& b) {
    return a.kernel == b.kernel && a.problem == b.problem && a.cache == b.cache;
  }
};

struct Suite {
  std::string name;
  std::string description;
  /// Without duplicates, in the order of the file. A case without a cache state merges with one of
  /// the same problem that names a state.
  std::vector<SuiteCase> cases;
  std::optional<std::int64_t> seed{};  ///< of a suite drawn at random (random_suite.hpp)
};

/// The most cases of a suite: a run file (specs::kMostFileBytes) can hold that many, at up to 4.1
/// kB a case in the committed runs.
inline constexpr std::size_t kMostCases = 15'000;

/// Parses and expands a suite (grammar: sweeps/README.md). Throws InputError with file, pointer and
/// mend.
Suite parse_suite(const std::string& file, const std::string& text);

/// A suite compiled into the program.
struct EmbeddedSuite {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedSuite> embedded_suites();

/// An embedded suite by name. Throws InputError that lists the names.
const EmbeddedSuite& embedded_suite(std::string_view name);
Suite find_suite(std::string_view name);

}  // namespace roofcast::validation
