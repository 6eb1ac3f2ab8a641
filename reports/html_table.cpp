#include "reports/html_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/text.hpp"

namespace roofcast::reports {

std::string text_cell(std::string_view text) {
  return fmt::format("<td class=\"text\">{}</td>", escape_html(text));
}

std::string name_cell(std::string_view name) {
  std::string cell = "<td class=\"text\">";
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of("._", begin), name.size() - 1) + 1;
    cell += (begin > 0 ? "<wbr>" : "") + escape_html(name.substr(begin, end - begin));
    begin = end;
  }
  return cell + "</td>";
}

std::string number_cell(double value, const std::string& shown, std::string_view tone) {
  if (!std::isfinite(value)) return "<td data-value=\"\">–</td>";
  const std::string tones = tone.empty() ? "" : fmt::format(" class=\"{}\"", tone);
  return fmt::format("<td data-value=\"{}\"{}>{}</td>", value, tones, shown);
}

std::string time_cell(double seconds) {
  return number_cell(seconds, si(seconds, "s"));
}

std::string heading(std::string_view text, bool is_text, std::string_view title) {
  return fmt::format("<th scope=\"col\"{}{}>{}</th>", is_text ? " class=\"text\"" : "",
                     title.empty() ? "" : fmt::format(" title=\"{}\"", title), text);
}

std::string table(std::string_view id, const std::string& head, const std::string& body) {
  return fmt::format(
      "<div class=\"table\"><table data-sortable{}>\n<thead><tr>{}</tr></thead>\n"
      "<tbody>\n{}</tbody>\n</table></div>\n",
      id.empty() ? "" : fmt::format(" id=\"{}\"", id), head, body);
}

std::string filter_field(std::string_view hint, std::string_view what) {
  return fmt::format(
      "<div class=\"tools\"><input type=\"search\" id=\"filter\" data-filters=\"cases\" "
      "placeholder=\"Filter: {}\" aria-label=\"Filter {}\"><output for=\"filter\"></output>"
      "</div>\n",
      hint, what);
}

std::string figure(std::string_view title, const std::string& value, const std::string& detail,
                   std::string_view tone) {
  return fmt::format("<div><dt>{}</dt><dd class=\"{}\">{}</dd><small>{}</small></div>\n", title,
                     tone, value, detail);
}

}  // namespace roofcast::reports
