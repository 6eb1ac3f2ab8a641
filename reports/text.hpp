#pragma once
// Numbers and foreign text as people and browsers should see them.
#include <string>
#include <string_view>

#include "model/types/quantity_text.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// Three significant digits are enough in a chart: 4.8e12, "B/s" → "4.8 TB/s".
inline std::string si(double value, std::string_view unit) {
  return si_text(value, unit, 3);
}

/// Text for an element or a quoted attribute of HTML.
std::string escape_html(std::string_view text);

/// JSON that may stand in a script element: ASCII, and nothing in it can end the element.
std::string script_json(const Json& value);

/// JSON as a file. Bytes that are no UTF-8 (a file name can hold any) become U+FFFD.
std::string json_text(const Json& value);

}  // namespace roofcast::reports
