#pragma once
// Kernels of a step, asked of the catalogue by name; each distinct question is forecast once.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "model/transformer/step.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::transformer {

/// A parameter by name, with a number or a choice's name. Without a name: nothing given.
struct Given {
  std::string_view name{};
  std::int64_t number = 0;
  std::string_view word{};

  Given() = default;
  Given(std::string_view parameter, std::int64_t value) : name(parameter), number(value) {}
  /// The nearest integer, at least 1.
  Given(std::string_view parameter, double value)
      : name(parameter), number(std::max<std::int64_t>(1, std::llround(value))) {}
  Given(std::string_view parameter, std::string_view choice) : name(parameter), word(choice) {}
};

/// Forecasts of one GPU, each asked once.
class KernelForecasts {
 public:
  explicit KernelForecasts(const Gpu& gpu) : gpu_(gpu) {}
  const Gpu& gpu() const { return gpu_; }

  struct One {
    std::string what;  ///< the kernel and what is given
    Forecast time;
    double limit_s = 0;
    Use use{};
  };
  /// With a steady cache: kernels follow each other. Throws InputError where there is no forecast.
  const One& of(std::string_view kernel, DType dtype, std::initializer_list<Given> given);
  /// Distinct questions so far.
  std::size_t count() const { return known_.size(); }

 private:
  const Gpu& gpu_;
  std::map<std::string, One, std::less<>> known_;
  std::string key_;  ///< of the question at hand; keeps its memory
};

}  // namespace roofcast::transformer
