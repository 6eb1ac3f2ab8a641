#include "reports/explorer_page.hpp"

namespace roofcast::reports {
const std::string_view kExplorerTemplate = "";
}  // namespace roofcast::reports
