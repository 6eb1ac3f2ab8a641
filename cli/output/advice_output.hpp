#pragma once
// Advice on a kernel's settings and shapes, in the ways it is printed.
#include <span>
#include <string>
#include <vector>

#include "cli/output/answer.hpp"
#include "model/advice.hpp"

namespace roofcast::cli {

/// What one device is asked, and the advice, or why there is none.
struct AdviceAnswer {
  KernelRef kernel;
  Problem problem;
  const Gpu* gpu;
  AdviceOptions options{};
  std::optional<ShapeAdvice> advice{};  ///< with the fastest settings
  std::string refusal{};
  std::optional<SettingsAdvice> settings{};  ///< absent of a product whose library chooses
  std::vector<Candidate> variants{};         ///< of a family, each with its fastest settings

  bool refused() const { return !advice; }
  bool of_product() const { return is_product(kernel); }
};

/// {"schema_version":…,"asked":FORECAST,"shapes":[{"kind":…,…,"forecast":FORECAST}]}, forecasts as
/// `predict` writes them; or the refusal. Where settings were searched, "asked" and the shapes have
/// the fastest, and "settings" has {"asked","faster","forecasts","every_value"}.
void write_json(JsonWriter& json, const AdviceAnswer& answer);

/// A row for the asked shape and one for each advised, with `predict`'s columns after those of the
/// advice.
void write_csv(fmt::memory_buffer& out, std::span<const AdviceAnswer> answers);

/// For people.
std::string advice_text(const AdviceAnswer& answer, const Style& style);

}  // namespace roofcast::cli
