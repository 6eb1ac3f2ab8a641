#pragma once
// Numbers and foreign text as people and browsers should see them.
#include <string>
#include <string_view>

#include "reports/theme.hpp"

namespace roofcast::reports {

/// Three significant digits and an SI prefix: 4.8e12, "B/s" → "4.8 TB/s".
std::string si(double value, std::string_view unit);

/// A fraction as a percentage: "6.3%"; with a sign: "+6.3%", "−6.3%".
std::string percent(double fraction);
std::string signed_percent(double fraction);

/// Text for an element or a quoted attribute of HTML.
std::string escape_html(std::string_view text);

/// JSON that may stand in a script element: ASCII, and nothing in it can end the element.
std::string script_json(const Json& value);

/// JSON as a file. Bytes that are no UTF-8 (a file name can hold any) become U+FFFD.
std::string json_text(const Json& value);

}  // namespace roofcast::reports
