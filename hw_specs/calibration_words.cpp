#include "hw_specs/calibration_words.hpp"

namespace roofcast::specs {

std::string calibration_text(const Gpu& gpu) {
  const Sustained& known = gpu.sustained;
  const CalibrationKind kind = calibration_kind(known);
  if (kind == CalibrationKind::none) return "none: datasheet values";
  if (kind == CalibrationKind::relative) return "of its relative " + known.relative;
  return known.relative.empty() ? known.source
                                : known.source + "; else of its relative " + known.relative;
}

std::string calibration_word(const Gpu& gpu) {
  const CalibrationKind kind = calibration_kind(gpu.sustained);
  return kind == CalibrationKind::relative ? "of " + gpu.sustained.relative
                                           : std::string(name(kind));
}

}  // namespace roofcast::specs
