#pragma once
// Advice on a kernel's settings and shapes as JSON, CSV and text.
#include <span>
#include <string>
#include <vector>

#include "advice/advice.hpp"
#include "cli/output/answer.hpp"

namespace roofcast::cli {

/// The question to one device with its advice, or the reason why there is none.
struct AdviceAnswer {
  KernelRef kernel;
  Problem problem;
  const Gpu* gpu;
  AdviceOptions options{};
  std::optional<ShapeAdvice> advice{};  ///< shapes, forecast with the fastest settings
  std::string refusal{};
  std::optional<SettingsAdvice> settings{};  ///< absent for a product whose library chooses
  std::vector<Candidate> variants{};         ///< for a family, each with its fastest settings

  bool refused() const { return !advice; }
  bool of_product() const { return is_product(kernel); }
};

/// {"schema_version":…,"asked":{…,"forecast":FORECAST},
/// "shapes":[{"kind":…,…,"forecast":FORECAST}]}, forecasts as `predict` writes them; or the
/// refusal. Where settings were searched, "asked" and the shapes have the fastest, and "settings"
/// is {"asked","faster","forecasts","every_value"}.
void write_json(JsonWriter& json, const AdviceAnswer& answer);

/// A row for each faster choice of settings, for the shape asked for and for each advised shape;
/// the columns of the advice come first, then those of `predict`.
void write_csv(fmt::memory_buffer& out, std::span<const AdviceAnswer> answers);

std::string advice_text(const AdviceAnswer& answer, const Style& style);

}  // namespace roofcast::cli
