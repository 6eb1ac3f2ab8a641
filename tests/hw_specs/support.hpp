#pragma once
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "hw_specs/loader.hpp"

namespace roofcast::specs {

using Json = nlohmann::json;

inline const Embedded& shipped(std::string_view name) {
  const Embedded* one = find_embedded(name);
  if (one == nullptr) throw std::runtime_error("no specification " + std::string(name));
  return *one;
}

/// The specification without its calibration, and nothing from a relative.
inline Source datasheet(std::string_view name) {
  return {.file = std::string(name) + ".json",
          .text = std::string(shipped(name).text),
          .overlay_file = "",
          .overlay_text = "",
          .overrides = {},
          .datasheet_only = true};
}

inline Source calibrated(std::string_view name) {
  Source source = datasheet(name);
  source.overlay_file = "calibration/" + source.file;
  source.overlay_text = shipped(name).overlay_text;
  return source;
}

inline Json document(std::string_view name) {
  return Json::parse(shipped(name).text);
}

inline Source from(const Json& specification) {
  return {.file = "device.json",
          .text = specification.dump(2),
          .overlay_file = "",
          .overlay_text = "",
          .overrides = {},
          .datasheet_only = true};
}

struct Refusal {
  std::string pointer;
  std::string what;
};

/// The error of a source that must be refused.
inline Refusal refusal(const Source& source) {
  try {
    load(source);
  } catch (const SpecError& error) {
    return {error.pointer(), error.what()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

/// Refused at `pointer`, in a message that names the file and holds what was expected, what was
/// found and how to mend it.
inline void expect_refused(const Source& source, const std::string& pointer,
                           const std::string& expected, const std::string& found,
                           const std::string& mend) {
  const Refusal error = refusal(source);
  EXPECT_EQ(error.pointer, pointer) << error.what;
  const std::size_t wanted = error.what.find("expected ");
  const std::size_t seen = error.what.find(", found ");
  const std::size_t mended = error.what.find(". Mend: ");
  ASSERT_LT(wanted, seen) << error.what;
  ASSERT_LT(seen, mended) << error.what;
  ASSERT_NE(mended, std::string::npos) << error.what;
  EXPECT_NE(error.what.substr(wanted, seen - wanted).find(expected), std::string::npos)
      << error.what;
  EXPECT_NE(error.what.substr(seen, mended - seen).find(found), std::string::npos) << error.what;
  EXPECT_NE(error.what.substr(mended).find(mend), std::string::npos) << error.what;
}

}  // namespace roofcast::specs
