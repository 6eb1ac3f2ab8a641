// libFuzzer: any bytes as a specification, and as a calibration and an override of a shipped one.
#include <cstddef>
#include <cstdint>
#include <string>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/loader.hpp"

namespace {

void try_load(const roofcast::specs::Source& source) {
  try {
    roofcast::specs::load(source);
    roofcast::specs::values_with_sources(source);
  } catch (const roofcast::specs::SpecError&) {  // the only exception allowed to leave
  }
}

bool is_json(const std::string& text) {
  try {
    (void)roofcast::specs::parse_checked("fuzz.json", text);
    return true;
  } catch (const roofcast::specs::SpecError&) {
    return false;
  }
}

}  // namespace

// A shipped specification takes a thousand times as long to load as most texts take to be refused,
// so it is loaded only for what may be part of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongestOption = 200;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const roofcast::specs::Embedded& shipped = roofcast::specs::embedded().front();
  const std::string specification(shipped.text);
  const std::size_t equals = text.find('=');
  if (is_json(text)) {
    try_load({"fuzz.json", text, "", "", {}});
    try_load({"shipped.json", specification, "fuzz.json", text, {}});
  } else if (equals != std::string::npos && size < kLongestOption) {
    try_load({"shipped.json",
              specification,
              "",
              "",
              {{text.substr(0, equals), text.substr(equals + 1)}}});
  }
  return 0;
}
