// libFuzzer: any bytes as a kernel file. What loads is forecast with its defaults, or refused with
// the reason; nothing else leaves.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hw_specs/kernel_file.hpp"
#include "hw_specs/loader.hpp"
#include "model/roofcast.hpp"

namespace {

using namespace roofcast;

const Gpu& device() {
  static const Gpu gpu = [] {
    const specs::Embedded* shipped = specs::find_embedded("h200-sxm");
    return specs::load({.file = std::string(shipped->name),
                        .text = std::string(shipped->text),
                        .overlay_file = "calibration",
                        .overlay_text = std::string(shipped->overlay_text),
                        .overrides = {}});
  }();
  return gpu;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const KernelRef kernel = specs::load_kernel(
        "fuzz.json", std::string_view(reinterpret_cast<const char*>(data), size));
    Problem problem;
    problem.dtype = kernel.dtypes().front();
    check(kernel, problem, 0);
    const Prediction prediction = predict(kernel, problem, device());
    if (!std::isfinite(prediction.limit.time_s) || prediction.limit.time_s < 0) std::abort();
    if (!prediction.time || !(prediction.time->expected_s >= prediction.limit.time_s)) std::abort();
  } catch (const InputError&) {  // the only exception allowed to leave
  }
  return 0;
}
