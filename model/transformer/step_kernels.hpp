#pragma once
// Kernels of a step, asked of the catalogue by name; each distinct question is forecast once.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/transformer/step.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::transformer {

/// A parameter by name, with a number or a choice's name.
struct Given {
  std::string_view name;
  std::int64_t number = 0;
  std::string_view word{};
};

class StepKernels {
 public:
  /// Of fp8 the products alone are; what lies between them has 16 bits.
  StepKernels(const Gpu& gpu, DType dtype)
      : gpu_(gpu), dtype_(dtype), wide_(dtype == DType::fp8 ? DType::bf16 : dtype) {}

  /// Adds `times` launches of the kernel to the part of that name.
  void add(std::string_view part, double times, std::string_view kernel,
           std::span<const Given> given);
  /// C[m,n] = A[m,k]·B[k,n], `batch` of them.
  void product(std::string_view part, double times, double m, double n, double k, double batch = 1);
  /// The same in 16 bits where other products have 8.
  void wide_product(std::string_view part, double times, double m, double n, double k,
                    double batch = 1);
  /// As `add`, in the type of the products.
  void add_narrow(std::string_view part, double times, std::string_view kernel,
                  std::span<const Given> given);
  /// Kernels that read and write so many elements in all, `launches` each time.
  void move(std::string_view part, double times, double elements, double launches = 1);

  const std::vector<StepPart>& parts() const { return parts_; }

 private:
  const Forecast& forecast(std::string_view kernel, DType dtype, std::span<const Given> given);
  void add_of_type(std::string_view part, double times, std::string_view kernel, DType dtype,
                   std::span<const Given> given);
  StepPart& part(std::string_view name);

  const Gpu& gpu_;
  DType dtype_;
  DType wide_;
  std::map<std::string, Forecast> known_;
  std::vector<StepPart> parts_;
  std::map<std::string, double> longest_;  ///< of each part, its longest kernel's time
};

}  // namespace roofcast::transformer
