#pragma once
// What `validate` was asked, read alike by the program and by the one that measures.
#include <optional>
#include <string>

#include "cli/input/options.hpp"
#include "validation/runs/shard.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cli {

struct ValidationRequest {
  Options options;
  validation::Suite suite;
  validation::Shard shard;
  std::string output;
};

/// Nothing if the help was asked for, and printed.
std::optional<ValidationRequest> read_validation_request(const Arguments& arguments);

}  // namespace roofcast::cli
