#pragma once
#include <string>
#include <string_view>

namespace roofcast::cli {

/// Foreign text for a terminal: control characters, letters that turn the direction of writing and
/// bytes that are no UTF-8 are shown as escapes (\x1b, \u202e) instead of being obeyed. Characters
/// in `kept` stay as they are.
std::string visible(std::string_view text, std::string_view kept = "");

}  // namespace roofcast::cli
