// libFuzzer: any bytes as a suite. Every case of one that is read is a case of its kernel, once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/predict.hpp"
#include "validation/runs/random_suite.hpp"
#include "validation/runs/suite.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofcast;
  validation::Suite suite;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    if (validation::is_random_suite("fuzz.json", text)) {
      const auto random = validation::parse_random_suite("fuzz.json", text);
      if (random.groups.empty()) std::abort();
      return 0;
    }
    suite = validation::parse_suite("fuzz.json", text);
  } catch (const InputError&) {  // the only exception allowed to leave
    return 0;
  }
  std::int64_t position = 0;
  for (const validation::SuiteCase& item : suite.cases) {
    Problem problem = item.problem;
    check(find_kernel(item.kernel), problem, ~0U);
    if (item.position != position++ || problem != item.problem) std::abort();
  }
  return 0;
}
