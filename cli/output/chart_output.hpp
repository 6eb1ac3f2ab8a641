#pragma once
#include <functional>
#include <optional>
#include <string>

namespace roofcast::cli {

/// Whether the name ends in .html, .svg or .png.
bool is_picture(const std::string& path);

/// Writes a Vega-Lite chart in the form of the file's extension: .html a page that opens offline,
/// .svg and .png a picture (needs Node), .json the chart itself, as on standard output. UsageError
/// for others. `narrow` draws the chart for a phone's width, for a page only.
void write_chart(
    const std::string& title, const std::string& chart, const std::optional<std::string>& path,
    const std::function<std::string()>& narrow = [] { return std::string(); });

}  // namespace roofcast::cli
