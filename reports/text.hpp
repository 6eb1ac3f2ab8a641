#pragma once
// Numbers for people, and any text or JSON made safe for HTML and files.
#include <string>
#include <string_view>

#include "model/types/quantity_text.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// A value with three significant digits and an SI prefix: 4.8e12, "B/s" → "4.8 TB/s".
inline std::string si(double value, std::string_view unit) {
  return si_text(value, unit, 3);
}

/// Escapes text for an element or a quoted attribute of HTML.
std::string escape_html(std::string_view text);

/// JSON for a script element: ASCII, and without "<", which could end the element.
std::string script_json(const Json& value);

/// JSON as the text of a file. Bytes that are no UTF-8 (file names may hold any) become U+FFFD.
std::string json_text(const Json& value);

}  // namespace roofcast::reports
