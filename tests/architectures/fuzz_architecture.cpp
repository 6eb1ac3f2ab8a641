// libFuzzer: any bytes as a config.json.
#include <cstddef>
#include <cstdint>
#include <string>

#include "architectures/loader.hpp"
#include "model/types/problem.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const auto model = roofcast::architectures::load("fuzz.json", text);
    const double total = roofcast::transformer::count_parameters(model).total;
    if (!(total > 0)) __builtin_trap();
  } catch (const roofcast::InputError&) {  // the only exception allowed to leave
  }
  return 0;
}
