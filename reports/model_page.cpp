#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/model_charts.hpp"
#include "reports/page.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

using transformer::Section;
using transformer::StepOperation;

std::string_view where(Section section) {
  switch (section) {
    case Section::begin:
      return "before the layers";
    case Section::end:
      return "after the layers";
    case Section::once:
      return "once a step";
    default:
      return "each layer";
  }
}

}  // namespace

std::string operations_table(const transformer::Step& step) {
  std::string html =
      "<div class=\"table\"><table><thead><tr><th class=\"text\">operation</th><th class=\"text\">"
      "part</th><th class=\"text\">where</th><th class=\"text\">direction</th><th>launches</th>"
      "<th>time</th><th>share</th><th class=\"text\">bound by</th></tr></thead>\n<tbody>\n";
  for (const StepOperation& one : step.operations) {
    html += fmt::format(
        "<tr><td class=\"text\">{}</td><td class=\"text\">{}</td><td class=\"text\">{}</td><td "
        "class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"text\">{}</td></tr>\n",
        escape_html(one.what), escape_html(one.part), where(one.section),
        transformer::kDirections[static_cast<std::size_t>(one.direction)],
        std::llround(std::max(one.count, one.launches)), si(one.expected_s, "s"),
        percent(one.expected_s / step.expected_s), escape_html(one.bound));
  }
  return html + "</tbody></table></div>\n";
}

std::string model_page(const std::string& title, const std::string& lead,
                       const std::vector<TitledChart>& charts, const std::string& table) {
  std::string body = page_begin(title, lead);
  std::vector<PageChart> drawn;
  for (const TitledChart& one : charts) {
    const std::string id = fmt::format("chart{}", drawn.size());
    body += fmt::format("<h2>{}</h2>\n{}", escape_html(one.title), chart_element(id));
    drawn.push_back(page_chart(id, kModelWidth, one.draw));
  }
  if (!table.empty()) body += "<h2>Operations</h2>\n" + table;
  return page(title, body + "</main>", drawn);
}

}  // namespace roofcast::reports
