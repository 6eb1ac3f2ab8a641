#pragma once
// The one place for colours and fonts: charts, pages and pictures take theirs from here.
#include <nlohmann/json.hpp>
#include <string>

namespace roofcast::reports {

using Json = nlohmann::ordered_json;

enum class Theme { light, dark };

/// Vega-Lite's `config`: marks name a style, so that a page can change the theme of a chart.
Json chart_config(Theme theme);

/// CSS custom properties of both themes, chosen by the reader's preference; print is light.
std::string theme_css();

}  // namespace roofcast::reports
