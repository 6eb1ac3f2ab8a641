#include "model/counting/activation.hpp"

namespace roofcast {

std::optional<Activation> activation_of(const LaunchSequence& program) {
  for (const Launched& node : program) {
    for (std::size_t i = 0; i < node.plan.arrays.size(); ++i) {
      const ArrayUse& use = node.plan.arrays[i];
      if (use.activation) return Activation{use.input.value_or(i), use.compulsory.read_bytes};
    }
  }
  return std::nullopt;
}

}  // namespace roofcast
