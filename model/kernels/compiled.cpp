#include "model/kernels/compiled.hpp"

#include <algorithm>

namespace roofcast::compiled {
namespace {

constexpr auto fp64 = static_cast<std::int64_t>(DType::fp64);
constexpr auto fp32 = static_cast<std::int64_t>(DType::fp32);
constexpr auto fp16 = static_cast<std::int64_t>(DType::fp16);
constexpr auto bf16 = static_cast<std::int64_t>(DType::bf16);
constexpr auto int8 = static_cast<std::int64_t>(DType::int8);

constexpr Kernel kKernels[] = {
#include "model/kernels/compiled.inc"
};

constexpr bool before(const Kernel& a, const Kernel& b) {
  return a.name != b.name ? a.name < b.name : a.arguments < b.arguments;
}
static_assert(std::is_sorted(std::begin(kKernels), std::end(kKernels), before));

}  // namespace

Kernel find(std::string_view name, const Arguments& arguments) {
  const Kernel asked = {name, arguments};
  const auto* const found =
      std::lower_bound(std::begin(kKernels), std::end(kKernels), asked, before);
  return found == std::end(kKernels) || before(asked, *found) ? asked : *found;
}

}  // namespace roofcast::compiled
