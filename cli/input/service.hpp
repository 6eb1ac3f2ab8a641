#pragma once
// Reads the services that options ask for.
#include <vector>

#include "cli/input/options.hpp"
#include "model/transformer/serving.hpp"

namespace roofcast::cli {

/// --serve, --concurrency and the other options that no step has.
std::vector<Option> service_options();
/// One service for each value of --concurrency. UsageError where an option is missing or belongs to
/// a step.
std::vector<transformer::Service> read_services(const Options& options);

}  // namespace roofcast::cli
