#pragma once
// What to measure: sweeps/*.json expanded into cases.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {

/// A case whose cache state is left open is timed steady if one launch is shorter, else cold:
/// beside so short a launch the cost of the events that time it would be seen.
inline constexpr double kSteadyBelow_s = 50e-6;

struct SuiteCase {
  std::string kernel;
  Problem problem;
  std::optional<CacheState> cache;  ///< none: as kSteadyBelow_s says
  std::int64_t position = 0;        ///< in the suite

  friend bool operator==(const SuiteCase& a, const SuiteCase& b) {
    return a.kernel == b.kernel && a.problem == b.problem && a.cache == b.cache;
  }
};

struct Suite {
  std::string name;
  std::string description;
  /// Each once, in the order of the file: a cache state that is left open is answered by one that
  /// is named, elsewhere in the suite, for the same problem.
  std::vector<SuiteCase> cases;
  std::optional<std::int64_t> seed{};  ///< of a suite that was drawn (random_suite.hpp)
};

/// The most cases of one suite: as many as a run file holds (specs::kMostFileBytes), which takes up
/// to 4.1 kB a case in the committed runs.
inline constexpr std::size_t kMostCases = 15'000;

/// The grammar is in sweeps/README.md. Throws InputError with file, pointer and mend.
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
