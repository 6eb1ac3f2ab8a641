#pragma once
// The HTML page around charts. Its template is built from reports/page/.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

/// HTML with `<!--page:…-->` where title, theme, body and charts go; empty without the bundle.
extern const std::string_view kPageTemplate;

struct PageChart {
  std::string id;  ///< id of the element from `chart_element`
  Json spec;
  Json narrow{};  ///< the same for a phone's width; null: `spec` serves both
};

/// The HTML element in which the page draws the chart of that id.
std::string chart_element(const std::string& id);

/// The template with each `<!--page:SLOT-->` replaced by content(SLOT).
std::string fill_template(std::string_view page_template,
                          const std::function<std::string(std::string_view)>& content);

/// A chart drawn twice: `draw` takes the frame's width, `wide` px and kNarrowFrame.
PageChart page_chart(std::string id, double wide, const std::function<std::string(double)>& draw);

/// The begin of a page's body: its heading and a line below, both texts.
std::string page_begin(const std::string& title, const std::string& lead);

/// The page. `body` is HTML, `title` is text. Throws InputError without the bundle.
std::string page(const std::string& title, const std::string& body,
                 const std::vector<PageChart>& charts);

}  // namespace roofcast::reports
