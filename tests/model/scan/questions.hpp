#pragma once
// Every kernel with sizes to ask about, and every shipped device to ask.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hw_specs/loader.hpp"
#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::testing {

struct ScanCase {
  KernelRef kernel;
  Problem problem;
};

/// The shipped device of that name with its shipped calibration, values set as by --set.
inline Gpu shipped_gpu(const specs::Embedded& one, std::vector<specs::Override> overrides = {}) {
  specs::Source source = specs::shipped_source(one);
  source.overrides = std::move(overrides);
  return specs::load(source);
}

inline const std::vector<Gpu>& gpus() {
  static const std::vector<Gpu> all = [] {
    std::vector<Gpu> loaded;
    for (const specs::Embedded& one : specs::embedded()) loaded.push_back(shipped_gpu(one));
    return loaded;
  }();
  return all;
}

/// The shipped device of that name.
inline const Gpu& gpu_named(std::string_view name) {
  for (const Gpu& gpu : gpus()) {
    if (gpu.name == name) return gpu;
  }
  throw std::invalid_argument("no shipped device " + std::string(name));
}

// Each question is asked of every device in a release build, of one in 4 in turn in one for
// development (-Og), and of one in 32 without optimization, as with the sanitizers: with fewer
// devices than 32 some questions ask none.
#ifdef NDEBUG
inline constexpr std::size_t kOneIn = 1;
#elif defined(__OPTIMIZE__)
inline constexpr std::size_t kOneIn = 4;
#else
inline constexpr std::size_t kOneIn = 32;
#endif

constexpr bool is_asked(std::size_t question, std::size_t device) {
  return (question + device) % kOneIn == 0;
}

/// The devices to ask the question of that number.
inline std::vector<std::reference_wrapper<const Gpu>> gpus_for(std::size_t question) {
  std::vector<std::reference_wrapper<const Gpu>> asked;
  for (std::size_t device = 0; device < gpus().size(); ++device) {
    if (is_asked(question, device)) asked.emplace_back(gpus()[device]);
  }
  return asked;
}

inline std::vector<KernelRef> all_variants() {
  std::vector<KernelRef> variants;
  for (const KernelFamily& family : catalog()) {
    for (const KernelModel& kernel : family.variants) variants.push_back({&family, &kernel});
  }
  return variants;
}

/// The forecast, or nothing where the device or the kernel refuses the question.
inline std::optional<Prediction> ask(const ScanCase& question, const Gpu& gpu,
                                     CacheState cache = CacheState::cold) {
  try {
    return predict(question.kernel, question.problem, gpu, {.cache = cache});
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The question as on the command line: "gemm.tiled --m 64 --n 64 --k 64 --dtype fp32".
inline std::string text(const ScanCase& question) {
  std::string words(question.kernel.kernel->name);
  const auto parameters = question.kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!is_named(parameters[i]) && parameters[i].fallback == question.problem[i]) continue;
    words += " --" + std::string(parameters[i].name) + " " +
             quoted_value_text(parameters[i], question.problem, i);
  }
  return words + " --dtype " + std::string(name(question.problem.dtype));
}

/// A size of the problem: more of it is more work.
inline bool is_extent(const Parameter& parameter) {
  const bool is_pattern = parameter.name == "stride" || parameter.name == "offset";
  const bool required = !parameter.configures && !is_named(parameter) && !parameter.fallback;
  return parameter.name == "n" || (required && !is_pattern);
}

/// A parameter with a default that scales the work of each element: paths and lengths of branches,
/// chains, repeats.
inline bool is_depth(const Parameter& parameter) {
  return parameter.name == "work" || parameter.name == "paths" || parameter.name == "chain" ||
         parameter.name == "repeats";
}

inline std::vector<std::size_t> extents(const KernelRef& kernel) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < kernel.parameters().size(); ++i) {
    if (is_extent(kernel.parameters()[i])) found.push_back(i);
  }
  return found;
}

/// The values to ask about of a parameter that is no extent.
inline std::vector<std::int64_t> other_values(const Parameter& parameter) {
  if (parameter.name == "epilogue") return {0, 5};  // the one that moves and computes most
  if (!parameter.choices.empty()) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i <= parameter.maximum; ++i) all.push_back(i);
    return all;
  }
  if (parameter.name == "stride") return {1, 2, 8, 33};
  if (parameter.name == "offset") return {0, 1, 8};
  if (parameter.name == "window") return {32, 4096};
  return {parameter.fallback.value_or(0)};
}

/// Every combination of the values of parameters that are no extents; the extents are still 0.
inline std::vector<ScanCase> templates(const KernelRef& kernel) {
  std::vector<ScanCase> found;
  const std::vector<DType> types(kernel.dtypes().begin(), kernel.dtypes().end());
  for (const DType type : types.size() > 1 ? std::vector{types.front(), types.back()} : types) {
    found.push_back({kernel, {.dtype = type, .text = Text{}}});
  }
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (is_extent(parameters[i])) continue;
    std::vector<ScanCase> wider;
    for (ScanCase question : found) {
      if (parameters[i].is_text) question.problem.text = Text("x*sigmoid(x)+y");
      for (const std::int64_t value : other_values(parameters[i])) {
        question.problem[i] = value;
        wider.push_back(question);
      }
    }
    found = std::move(wider);
  }
  return found;
}

/// Powers of two to 64, from there about `per_octave` multiples of 64 in each octave. Alignment,
/// up to 64 elements, never falls from size to size: a ragged size may be slower.
inline std::vector<std::int64_t> ladder(std::int64_t maximum, int per_octave) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size < 64 && size <= maximum; size *= 2) sizes.push_back(size);
  for (std::int64_t octave = 64; octave <= maximum; octave *= 2) {
    for (int i = 0; i < per_octave; ++i) {
      const std::int64_t size = (octave + octave * i / per_octave) / 64 * 64;
      if (size <= maximum && size > sizes.back()) sizes.push_back(size);
    }
  }
  return sizes;
}

}  // namespace roofcast::testing
