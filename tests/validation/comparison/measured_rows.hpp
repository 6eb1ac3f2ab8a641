#pragma once
// Rows of the committed tables of PyTorch's kernels, and what they ask of the catalogue.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "model/roofcast.hpp"
#include "model/types/parameter_text.hpp"
#include "tests/validation/comparison/reference_rows.hpp"

namespace roofcast::validation {

inline std::vector<NamedRow> measured_rows(const char* file) {
  std::ifstream in(std::filesystem::path(ROOFCAST_MEASURED_DIR) / file);
  std::ostringstream text;
  text << in.rdbuf();
  return reference_rows(text.str());
}

inline Problem problem_of(const KernelRef& kernel, const NamedRow& row) {
  Problem problem;
  problem.dtype = *parse_dtype(row["dtype"]);
  unsigned given = 0;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool further = parameters[i].name == "entries" || parameters[i].name == "per_token";
    const std::string name(further ? "of" : parameters[i].name);
    const auto found = row.fields.find(name);
    if (found == row.fields.end() || found->second.empty()) continue;
    given |= 1U << i;
    if (parameters[i].choices.empty()) {
      problem[i] = std::stoll(found->second);
    } else {
      set_named_value(parameters[i], problem, i, found->second);
    }
  }
  check(kernel, problem, given);
  return problem;
}

}  // namespace roofcast::validation
