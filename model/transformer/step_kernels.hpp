#pragma once
// Kernels of a step, asked of the catalogue by name; each distinct question is forecast once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/transformer/step.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::transformer {

/// A parameter by name, with a number or a choice's name.
struct Given {
  std::string_view name;
  std::int64_t number = 0;
  std::string_view word{};
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
  /// From a cache that is steady: kernels follow each other. Throws InputError where there is no
  /// forecast.
  const One& of(std::string_view kernel, DType dtype, std::span<const Given> given);
  /// Distinct questions so far.
  std::size_t count() const { return known_.size(); }

 private:
  const Gpu& gpu_;
  std::map<std::string, One, std::less<>> known_;
  std::string key_;  ///< of the question at hand; keeps its memory
};

class StepKernels {
 public:
  /// Of fp8 the products alone are; what lies between them has 16 bits.
  StepKernels(KernelForecasts& forecasts, DType dtype)
      : forecasts_(forecasts), dtype_(dtype), wide_(dtype == DType::fp8 ? DType::bf16 : dtype) {}

  /// Where the operations that follow stand.
  void at(Section section, Direction direction) {
    section_ = section;
    direction_ = direction;
  }

  /// Which layers have the operations that follow.
  void of_layers(std::int64_t first, std::int64_t last) {
    first_layer_ = first;
    last_layer_ = last;
  }

  /// Adds `times` launches of the kernel to the part of that name.
  void add(std::string_view part, double times, std::string_view kernel,
           std::span<const Given> given);
  /// C[m,n] = A[m,k]·B[k,n], `batch` of them.
  void product(std::string_view part, double times, double m, double n, double k, double batch = 1);
  /// The same with an epilogue of cuBLASLt's.
  void product_with(std::string_view epilogue, std::string_view part, double times, double m,
                    double n, double k);
  /// As `product`, in 16 bits where other products have 8.
  void wide_product(std::string_view part, double times, double m, double n, double k,
                    double batch = 1);
  /// As `add`, in the type of the products.
  void add_narrow(std::string_view part, double times, std::string_view kernel,
                  std::span<const Given> given);
  /// As `add`, in that type.
  void add_of_type(std::string_view part, double times, std::string_view kernel, DType dtype,
                   std::span<const Given> given);
  /// Copies that read and write so many elements in all, `launches` each time.
  void move(std::string_view part, double times, double elements, double launches = 1);

  /// The operations so far, their parts and the sum of their limits.
  Step step() && { return std::move(step_); }

 private:
  KernelForecasts& forecasts_;
  DType dtype_;
  DType wide_;
  Section section_ = Section::layer;
  Direction direction_ = Direction::forward;
  std::int64_t first_layer_ = 0;
  std::int64_t last_layer_ = 0;
  Step step_;
  std::map<std::string, double> longest_;  ///< of each part, its longest kernel's time
};

}  // namespace roofcast::transformer
