#include "reports/page.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "reports/chart.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {

namespace {

/// The narrow chart without the theme and data sets of the wide one, which the page's script fills
/// in again: they are written once.
Json without_shared_data(Json narrow, const Json& wide) {
  Json own = Json::object();
  for (const auto& [name, rows] : narrow.at("datasets").items()) {
    const auto same = wide.at("datasets").find(name);
    if (same == wide.at("datasets").end() || *same != rows) own[name] = rows;
  }
  narrow["datasets"] = std::move(own);
  Json& config = narrow["config"];
  config = {{"padding", config.at("padding")},
            {"legend", {{"layout", config.at("legend").at("layout")}}}};
  return narrow;
}

}  // namespace

PageChart page_chart(std::string id, double wide, const std::function<std::string(double)>& draw) {
  return {std::move(id), Json::parse(draw(wide)), Json::parse(draw(kNarrowFrame))};
}

std::string chart_element(const std::string& id) {
  return fmt::format("<div class=\"chart\" id=\"{}\"><div class=\"screen\"></div></div>\n", id);
}

std::string page_begin(const std::string& title, const std::string& lead) {
  return fmt::format("<main>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escape_html(title),
                     escape_html(lead));
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
    if (!chart.narrow.is_null()) {
      data["charts"].back()["narrow"] = without_shared_data(chart.narrow, chart.spec);
    }
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
  // One pass over the template: content that was filled in is never searched for slots.
  constexpr std::string_view kOpen = "<!--page:";
  constexpr std::string_view kClose = "-->";
  std::string html;
  for (std::size_t open = rest.find(kOpen); open != std::string_view::npos;
       open = rest.find(kOpen)) {
    html += rest.substr(0, open);
    rest.remove_prefix(open + kOpen.size());
    const std::size_t close = rest.find(kClose);
    html += content(rest.substr(0, close));
    rest.remove_prefix(close + kClose.size());
  }
  return html += rest;
}

std::string chart_page(const std::string& title, const std::string& vega_lite_json,
                       const std::string& narrow_json) {
  const auto parsed = [](const std::string& text) {
    Json spec = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!spec.is_object()) throw InputError("a chart is a Vega-Lite specification, a JSON object");
    return spec;
  };
  const Json spec = parsed(vega_lite_json);
  const Json narrow = narrow_json.empty() ? Json() : parsed(narrow_json);
  const std::string body =
      fmt::format("<main>\n<h1>{}</h1>\n{}</main>", escape_html(title), chart_element("chart"));
  return page(title, body, {{"chart", spec, narrow}});
}

}  // namespace roofcast::reports
