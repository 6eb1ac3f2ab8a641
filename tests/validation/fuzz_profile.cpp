// libFuzzer: any bytes as a trace and as a table of Nsight Compute. What is read adds up, and what
// the model says of it is finite.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hw_specs/loader.hpp"
#include "validation/profiles/ncu.hpp"
#include "validation/profiles/profile.hpp"
#include "validation/profiles/words.hpp"

namespace {

using namespace roofcast;

void check(validation::Trace trace) {
  static const Gpu gpu = [] {
    const specs::Embedded& found = *specs::find_embedded("h100-sxm5");
    return specs::load({"gpu", std::string(found.text), "", "", {}});
  }();
  std::int64_t kernels = 0, calls = 0;
  for (const validation::TracedCall& call : trace.calls) {
    if (call.kernels.empty() || call.count <= 0) std::abort();
    calls += call.count;
    for (const validation::ProfiledKernel& kernel : call.kernels) kernels += kernel.calls;
  }
  if (kernels != trace.kernels) std::abort();
  if (static_cast<std::size_t>(calls) != trace.sequence.size()) std::abort();
  const validation::Profile profile = validation::profile_of(std::move(trace), gpu);
  for (const validation::CallGroup& group : profile.groups) {
    if (group.limit_s && !(*group.limit_s >= 0)) std::abort();
    if (group.expected_s && !std::isfinite(*group.expected_s)) std::abort();
    (void)validation::name_text(group);
    (void)validation::shape_text(group);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    check(validation::read_trace(*validation::bytes_of(text), "fuzz.json"));
  } catch (const InputError&) {  // the only exception allowed to leave
  }
  try {
    check(validation::read_ncu({{"fuzz.csv", text}}));
  } catch (const InputError&) {
  }
  return 0;
}
