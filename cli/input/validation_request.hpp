#pragma once
// What `validate` was asked, read alike by the program and by the one that measures.
#include <optional>
#include <string>
#include <variant>

#include "cli/input/options.hpp"
#include "model/types/gpu.hpp"
#include "validation/runs/random_suite.hpp"
#include "validation/runs/shard.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cli {

/// A suite that is drawn once the GPU is known.
struct DrawRequest {
  validation::RandomSuite suite;
  std::int64_t seed = 0;
  std::size_t cases = 0;
};

struct ValidationRequest {
  Options options;
  std::variant<validation::Suite, DrawRequest> suite;
  validation::Shard shard;
  std::string output;

  /// Throws InputError where a draw finds nothing that the GPU takes.
  validation::Suite suite_for(const Gpu& gpu) const;
};

/// Nothing if the help or the list of the cases was asked for, and printed.
std::optional<ValidationRequest> read_validation_request(const Arguments& arguments);

}  // namespace roofcast::cli
