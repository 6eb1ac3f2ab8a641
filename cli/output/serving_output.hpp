#pragma once
// One answer about a service as JSON and text.
#include <optional>
#include <string>

#include "cli/output/json_writer.hpp"
#include "model/transformer/serving.hpp"

namespace roofcast::cli {

struct ServingAnswer {
  std::string model;  ///< a name or the path of a configuration
  std::string gpu;
  transformer::Service service;
  transformer::Serving serving;
  std::optional<double> capacity_bytes;  ///< DRAM of the GPU

  /// Whether memory holds all requests; true where the GPU's size is not known.
  bool fits() const {
    return !serving.largest_concurrency || service.concurrency <= *serving.largest_concurrency;
  }
};

ServingAnswer answer_service(const std::string& name, const transformer::Architecture& model,
                             const transformer::Service& service,
                             transformer::KernelForecasts& forecasts);

/// The JSON contract of `roofcast model --serve`, without an end of line.
void write_json(JsonWriter& json, const ServingAnswer& answer);
std::string serving_text(const ServingAnswer& answer);

}  // namespace roofcast::cli
