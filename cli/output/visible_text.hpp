#pragma once
#include <string>
#include <string_view>

namespace roofcast::cli {

/// Foreign text made safe for a terminal: control characters, marks that change the direction of
/// writing and bytes that are no UTF-8 become escapes (\x1b, \u202e). ASCII characters in `kept`
/// stay as they are.
std::string visible(std::string_view text, std::string_view kept = "");

}  // namespace roofcast::cli
