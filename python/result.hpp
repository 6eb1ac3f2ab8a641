#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/output/answer.hpp"
#include "python/device.hpp"

namespace roofcast::python {

/// A forecast as Python holds it: the figures become Python's when they are asked for.
struct Result {
  std::shared_ptr<Device> device;  ///< which the candidates point into
  cli::Candidate itself;
  std::vector<cli::Candidate> variants;  ///< of a family

  /// Throws InputError where a family has no limit of its own.
  const Prediction& prediction() const;
};

}  // namespace roofcast::python
