#pragma once
#include <string>
#include <string_view>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// The source of a value that an Override set. A file must not use it.
inline constexpr std::string_view kOverrideSource = "override";

/// `file`: a document as read; `overridden`: overrides have been applied to it.
enum class Stage : unsigned char { file, overridden };

/// Whether the text consists of small letters, digits and hyphens, as "h100-sxm5": no path does.
bool is_device_name(std::string_view text);

/// Checks what schema.json cannot express: that sources exist and values agree with each other.
/// Throws SpecError.
void check_rules(const Json& specification, Stage stage, const std::string& file);

/// Checks a calibration of the device `gpu` in the same way.
void check_overlay_rules(const Json& overlay, std::string_view gpu, Stage stage,
                         const std::string& file);

}  // namespace roofcast::specs
