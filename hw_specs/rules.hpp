#pragma once
#include <string>
#include <string_view>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// Source of a value that an Override set. No file may name it.
inline constexpr std::string_view kOverrideSource = "override";

/// Whether a document is as its file gives it, or overrides have been applied.
enum class Stage : unsigned char { file, overridden };

/// Small letters, digits and hyphens: a name as "h100-sxm5", and no path.
bool is_device_name(std::string_view text);

/// What schema.json cannot say: sources that exist, values that fit together. Throws SpecError.
void check_rules(const Json& specification, Stage stage, const std::string& file);

/// The same for a calibration of the device `gpu`.
void check_overlay_rules(const Json& overlay, std::string_view gpu, Stage stage,
                         const std::string& file);

}  // namespace roofcast::specs
