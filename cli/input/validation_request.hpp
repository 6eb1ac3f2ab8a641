#pragma once
// The request of `validate`, read in the same way by this program and by the measuring one.
#include <optional>
#include <string>
#include <variant>

#include "cli/input/options.hpp"
#include "model/types/gpu.hpp"
#include "validation/runs/random_suite.hpp"
#include "validation/runs/shard.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::cli {

/// A random suite, whose cases are drawn once the GPU is known.
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

  /// The suite, drawn for the GPU if it is a random one. InputError where the GPU takes too few
  /// cases.
  validation::Suite suite_for(const Gpu& gpu) const;
};

/// Reads the request; nothing if the list of cases was asked for, and printed.
std::optional<ValidationRequest> read_validation_request(const Arguments& arguments);

}  // namespace roofcast::cli
