#include "reports/page.hpp"

namespace roofcast::reports {
const std::string_view kPageTemplate = "";
}  // namespace roofcast::reports
