#pragma once
// Advice on a matrix product, in the ways it is printed.
#include <span>
#include <string>
#include <vector>

#include "cli/output/answer.hpp"
#include "model/product_advice.hpp"

namespace roofcast::cli {

/// What one device is asked, and the advice, or why there is none.
struct AdviceAnswer {
  KernelRef kernel;
  Problem problem;
  const Gpu* gpu;
  AdviceOptions options;
  std::optional<Advised> advised;
  std::string refusal;
};

/// {"schema_version":…,"asked":FORECAST,"shapes":[{"kind":…,…,"forecast":FORECAST}]}, forecasts as
/// `predict` writes them; or the refusal.
void write_json(JsonWriter& json, const AdviceAnswer& answer);

/// A row for the asked shape and one for each advised, with `predict`'s columns after those of the
/// advice.
void write_csv(fmt::memory_buffer& out, std::span<const AdviceAnswer> answers);

/// For people.
std::string advice_text(const AdviceAnswer& answer, const Style& style);

}  // namespace roofcast::cli
