#include "reports/explorer_page.hpp"

#include <stdexcept>

#include "model/types/problem.hpp"
#include "reports/page.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {

std::string explorer_page() {
  if (kExplorerTemplate.empty()) {
    throw InputError(
        "this build has no explorer: install Emscripten (Debian: apt install emscripten) and Node, "
        "and "
        "build again with -DROOFCAST_EXPLORER=ON");
  }
  const Json data = {{"themes", {{"dark", chart_config(Theme::dark)}}}};
  return fill_template(kExplorerTemplate, [&](std::string_view slot) -> std::string {
    if (slot == "theme") return theme_css();
    if (slot == "charts") return script_json(data);
    throw std::logic_error("the explorer's template has an unknown slot: " + std::string(slot));
  });
}

}  // namespace roofcast::reports
