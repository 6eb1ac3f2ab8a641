// A file with any one byte changed loads or is refused with a SpecError: nothing else happens.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "tests/hw_specs/support.hpp"

namespace roofcast::specs {
namespace {

/// Whether the source loads; other exceptions than SpecError go through and fail the property.
bool loads(const Source& source) {
  try {
    load(source);
    return true;
  } catch (const SpecError& error) {
    RC_ASSERT(std::string(error.what()).find(". Mend: ") != std::string::npos);
    return false;
  }
}

const Embedded& any_specification() {
  return embedded()[*rc::gen::inRange<std::size_t>(0, embedded().size())];
}

std::string with_byte_changed(std::string text) {
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  text[at] = *rc::gen::oneOf(rc::gen::arbitrary<char>(),
                             rc::gen::elementOf(std::string("0123456789.eE+-\"{}[],: ")));
  return text;
}

RC_GTEST_PROP(Mutation, OfASpecification, ()) {
  Source source = datasheet(any_specification().name);
  source.text = with_byte_changed(source.text);
  RC_CLASSIFY(loads(source), "loads");
}

RC_GTEST_PROP(Mutation, OfACalibration, ()) {
  Source source = calibrated("h200-sxm");
  source.overlay_text = with_byte_changed(source.overlay_text);
  RC_CLASSIFY(loads(source), "loads");
}

RC_GTEST_PROP(Mutation, DroppedBytes, ()) {
  Source source = datasheet(any_specification().name);
  const auto from = *rc::gen::inRange<std::size_t>(0, source.text.size());
  const auto count = *rc::gen::inRange<std::size_t>(1, 200);
  source.text.erase(from, count);
  RC_CLASSIFY(loads(source), "loads");
}

RC_GTEST_PROP(Mutation, ArbitraryOverrides, (const std::string& key, const std::string& value)) {
  Source source = calibrated("h200-sxm");
  source.overrides = {{key, value}};
  RC_ASSERT_FALSE(loads(source));
}

}  // namespace
}  // namespace roofcast::specs
