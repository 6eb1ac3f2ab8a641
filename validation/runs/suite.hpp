#pragma once
// What to measure: sweeps/*.json expanded into cases.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {

struct SuiteCase {
  std::string kernel;
  Problem problem;
  std::optional<CacheState> cache;  ///< none: steady under 50 µs, else cold

  friend bool operator==(const SuiteCase&, const SuiteCase&) = default;
};

struct Suite {
  std::string name;
  std::string description;
  std::vector<SuiteCase> cases;  ///< each once, in the order of the file
};

/// The grammar is in sweeps/README.md. Throws InputError with file, pointer and mend.
Suite parse_suite(const std::string& file, const std::string& text);

/// A suite compiled into the program.
struct EmbeddedSuite {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedSuite> embedded_suites();

/// An embedded suite by name. Throws InputError that lists the names.
Suite find_suite(std::string_view name);

}  // namespace roofcast::validation
