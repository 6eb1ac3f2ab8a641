// libFuzzer: any bytes as a specification, and as a calibration and an override of a shipped one.
#include <cstddef>
#include <cstdint>
#include <string>

#include "hw_specs/loader.hpp"

namespace {

void try_load(const roofcast::specs::Source& source) {
  try {
    roofcast::specs::load(source);
    roofcast::specs::values_with_sources(source);
  } catch (const roofcast::specs::SpecError&) {  // the only exception allowed to leave
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try_load({"fuzz.json", text, "", "", {}});

  const roofcast::specs::Embedded& shipped = roofcast::specs::embedded().front();
  const std::string specification(shipped.text);
  try_load({"shipped.json", specification, "fuzz.json", text, {}});
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) {
    try_load({"shipped.json",
              specification,
              "",
              "",
              {{text.substr(0, equals), text.substr(equals + 1)}}});
  }
  return 0;
}
