#pragma once
#include <memory>
#include <string>
#include <vector>

#include "cli/output/answer.hpp"
#include "python/device.hpp"

namespace roofcast::python {

/// A forecast as Python holds it: values are converted to Python's when a property is read.
struct Result {
  std::shared_ptr<Device> device;  ///< owns the Gpu that the candidates point to
  cli::Candidate itself;
  std::vector<cli::Candidate> variants;  ///< a family's variants, else empty

  /// Throws InputError if there is none: a family without a limit of its own.
  const Prediction& prediction() const;
};

}  // namespace roofcast::python
