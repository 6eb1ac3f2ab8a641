// libFuzzer: any bytes as a table of published measurements, by its own kernels and as operations.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "validation/comparison/reference.hpp"
#include "validation/comparison/table.hpp"

namespace {

using namespace roofcast;

void try_table(const std::string& text, const validation::TableQuery& query) {
  try {
    for (const auto& row : validation::parse_table("fuzz.csv", text, query).rows) {
      const double time_s = row.measured.timing.median_s();
      if (!(time_s > 0) || !std::isfinite(time_s)) std::abort();
    }
  } catch (const InputError&) {  // the only exception allowed to leave
  }
  try {
    for (const auto& row : validation::parse_json_table("fuzz.json", text, query).rows) {
      if (!(row.measured.timing.median_s() > 0)) std::abort();
    }
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_table(text, {});
  validation::TableQuery operations;
  operations.kernel = "elementwise.relu.fused";
  operations.where = {{"op", "relu,gelu"}};
  operations.set = {{"n", "rows*cols*2"}};
  try_table(text, operations);
  try {
    (void)validation::reference_rows("fuzz.csv", text, "h200-sxm");
  } catch (const InputError&) {
  }
  return 0;
}
