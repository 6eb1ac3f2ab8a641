#include "model/laws/waves.hpp"

namespace roofcast {

Waves waves(std::int64_t blocks, std::int64_t capacity) {
  const std::int64_t rest = blocks % capacity;
  const std::int64_t needed = blocks / capacity + (rest != 0 ? 1 : 0);
  Waves result;
  result.count = static_cast<double>(blocks) / static_cast<double>(capacity);
  result.full = blocks / capacity;
  result.tail_utilization =
      rest == 0 ? 1.0 : static_cast<double>(rest) / static_cast<double>(capacity);
  result.efficiency = result.count / static_cast<double>(needed);
  return result;
}

}  // namespace roofcast
