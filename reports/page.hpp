#pragma once
// The page around charts. The template is made at build time from page/.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

/// HTML with `<!--page:…-->` where title, theme, body and charts go; empty without the bundle.
extern const std::string_view kPageTemplate;

struct PageChart {
  std::string id;  ///< of the element that `chart_element` made
  Json spec;
  Json narrow{};  ///< the same for a phone's width; null: `spec` serves both
};

/// Where the page draws the chart of that id.
std::string chart_element(const std::string& id);

/// The template with each `<!--page:SLOT-->` replaced by what `content` says of the slot.
std::string fill_template(std::string_view page_template,
                          const std::function<std::string(std::string_view)>& content);

/// A chart of both widths, drawn by `draw` of a frame's width in pixels.
PageChart page_chart(std::string id, double wide, const std::function<std::string(double)>& draw);

/// `body` is HTML, `title` is text.
std::string page(const std::string& title, const std::string& body,
                 const std::vector<PageChart>& charts);

}  // namespace roofcast::reports
