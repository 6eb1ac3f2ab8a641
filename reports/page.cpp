#include "reports/page.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "reports/chart.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {

std::string chart_element(const std::string& id) {
  return fmt::format("<div class=\"chart\" id=\"{}\"><div class=\"screen\"></div></div>\n", id);
}

std::string page(const std::string& title, const std::string& body,
                 const std::vector<PageChart>& charts) {
  if (kPageTemplate.empty()) {
    throw InputError(
        "this build has no page bundle: configure with -DROOFCAST_REPORT_BUNDLE=ON (needs Node and "
        "npm), or write .json, .svg or .png");
  }
  Json data = {{"charts", Json::array()}, {"themes", {{"dark", chart_config(Theme::dark)}}}};
  for (const PageChart& chart : charts) {
    data["charts"].push_back({{"id", chart.id}, {"spec", chart.spec}});
  }
  return fill_template(kPageTemplate, [&](std::string_view slot) -> std::string {
    if (slot == "title") return escape_html(title);
    if (slot == "theme") return theme_css();
    if (slot == "body") return body;
    if (slot == "charts") return script_json(data);
    throw std::logic_error("the page template has an unknown slot: " + std::string(slot));
  });
}

std::string fill_template(std::string_view rest,
                          const std::function<std::string(std::string_view)>& content) {
  // One pass over the template alone: what is filled in is never searched for slots.
  constexpr std::string_view kOpen = "<!--page:";
  constexpr std::string_view kClose = "-->";
  std::string html;
  for (std::size_t open = rest.find(kOpen); open != rest.npos; open = rest.find(kOpen)) {
    html += rest.substr(0, open);
    rest.remove_prefix(open + kOpen.size());
    const std::size_t close = rest.find(kClose);
    html += content(rest.substr(0, close));
    rest.remove_prefix(close + kClose.size());
  }
  return html += rest;
}

std::string chart_page(const std::string& title, const std::string& vega_lite_json) {
  const Json spec = Json::parse(vega_lite_json, nullptr, /*allow_exceptions=*/false);
  if (!spec.is_object()) throw InputError("a chart is a Vega-Lite specification, a JSON object");
  const std::string body =
      fmt::format("<main>\n<h1>{}</h1>\n{}</main>", escape_html(title), chart_element("chart"));
  return page(title, body, {{"chart", spec}});
}

}  // namespace roofcast::reports
