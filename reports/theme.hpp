#pragma once
// All colours and fonts of charts, pages and pictures.
#include <nlohmann/json.hpp>
#include <string>

namespace roofcast::reports {

using Json = nlohmann::ordered_json;

enum class Theme { light, dark };

/// Vega-Lite's `config`. Marks refer to its styles by name, so a page can change a chart's theme.
Json chart_config(Theme theme);

/// CSS custom properties of both themes, chosen by the reader's preference; print is light.
std::string theme_css();

}  // namespace roofcast::reports
