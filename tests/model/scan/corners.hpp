#pragma once
// Questions at the ends of what each kernel declares to take.
#include <vector>

#include "tests/model/scan/draw.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast::testing {

/// The ends of a parameter's range, and a usual size of a required one.
inline std::vector<std::int64_t> ends_of(const Parameter& parameter) {
  std::vector<std::int64_t> values = {parameter.minimum, parameter.maximum};
  constexpr std::int64_t kUsual = 4096;
  if (!parameter.fallback && parameter.minimum < kUsual && kUsual < parameter.maximum) {
    values.push_back(kUsual);
  }
  return values;
}

/// Every combination of the ends of required parameters, the others at their defaults; and each of
/// those with one more parameter at an end. Kernels refuse some.
inline std::vector<ScanCase> corners(const KernelRef& kernel) {
  const auto parameters = kernel.parameters();
  std::vector<ScanCase> found;
  for (const DType type : {kernel.dtypes().front(), kernel.dtypes().back()}) {
    ScanCase question{kernel, {.dtype = type, .text = Text{}}};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].is_text) question.problem.text = Text("x*sigmoid(x)+y");
      question.problem[i] = parameters[i].fallback.value_or(parameters[i].minimum);
    }
    found.push_back(question);
    if (kernel.dtypes().size() == 1) break;
  }
  const auto widen = [&found](std::size_t i, const std::vector<std::int64_t>& values) {
    const std::vector<ScanCase> narrow = std::move(found);
    found.clear();
    for (ScanCase question : narrow) {
      for (const std::int64_t value : values) {
        question.problem[i] = value;
        found.push_back(question);
      }
    }
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].fallback && !is_named(parameters[i])) widen(i, ends_of(parameters[i]));
  }
  const std::vector<ScanCase> required = found;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].fallback || parameters[i].is_text) continue;
    for (ScanCase question : required) {
      for (const std::int64_t value : ends_of(parameters[i])) {
        if (value == *parameters[i].fallback) continue;
        question.problem[i] = value;
        found.push_back(question);
      }
    }
  }
  return found;
}

/// Whether the question is asked: one in `one_in`, by its hash. Of experts 16 times fewer: a
/// forecast of theirs takes a hundred times as long as that of a product.
inline bool is_drawn(const KernelFamily& family, const std::string& words, std::size_t one_in) {
  return stable_hash(words) % (family.name == "moe" ? 16 * one_in : one_in) == 0;
}

/// Visits each corner, or one in kOneIn, on the H200 and on a drawn device.
template <class Visit>
void visit_corners(const KernelFamily& family, const Visit& visit) {
  std::vector<std::string_view> names;
  for (const Gpu& gpu : gpus()) names.push_back(gpu.name);
  for (const KernelModel& kernel : family.variants) {
    for (const ScanCase& question : corners({&family, &kernel})) {
      const std::string words = text(question);
      if (!is_drawn(family, words, kOneIn)) continue;
      const std::string_view drawn = drawn_name(words, names);
      visit(question, gpu_named("h200-sxm"));
      if (drawn != "h200-sxm") visit(question, gpu_named(drawn));
    }
  }
}

}  // namespace roofcast::testing
