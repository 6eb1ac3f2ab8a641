#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "model/types/kernel_model.hpp"

namespace roofcast {

/// All families with their variants: the only list of them.
std::span<const KernelFamily> catalog();

/// A name's family, and its variant unless the name is a family's.
struct KernelRef {
  const KernelFamily* family = nullptr;
  const KernelModel* kernel = nullptr;
  /// Keeps a kernel that a file describes (described/kernel.hpp) alive.
  std::shared_ptr<const void> owner{};

  std::string_view name() const { return kernel != nullptr ? kernel->name : family->name; }
  std::span<const Parameter> parameters() const {
    return kernel != nullptr ? kernel->parameters : family->parameters;
  }
  std::span<const DType> dtypes() const {
    return kernel != nullptr ? kernel->dtypes : family->dtypes;
  }
};

/// Throws InputError with the nearest name if there is none of that name.
KernelRef find_kernel(std::string_view name);

/// The value of the parameter of that name, such as "tile_m"; absent if the kernel lacks it.
std::optional<std::int64_t> value_named(const KernelRef& kernel, const Problem& problem,
                                        std::string_view parameter);

/// Fills in the fallback of parameter i if bit i of `given` is 0, and checks type and ranges.
/// Throws InputError that names the parameter and its allowed values.
void check(const KernelRef& kernel, Problem& problem, unsigned given);

}  // namespace roofcast
