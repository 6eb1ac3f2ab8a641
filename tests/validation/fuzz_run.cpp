// libFuzzer: any bytes as a run file. What is read writes itself again, and is read as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "validation/runs/merge.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roofcast;
  validation::Run run;
  try {
    run = validation::parse_run("fuzz.json", {reinterpret_cast<const char*>(data), size});
  } catch (const InputError&) {  // the only exception allowed to leave
    return 0;
  }
  const std::string text = validation::to_json(run);
  if (validation::to_json(validation::parse_run("again.json", text)) != text) std::abort();
  try {
    (void)validation::merge({{"fuzz.json", run}});
  } catch (const InputError&) {
  }
  return 0;
}
