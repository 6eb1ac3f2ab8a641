#pragma once
// The explorer: one page that holds the model as WebAssembly, built from reports/explorer/.
#include <string>
#include <string_view>

namespace roofcast::reports {

/// The page's HTML template. Empty if the build has no explorer (ROOFCAST_EXPLORER).
extern const std::string_view kExplorerTemplate;

/// The whole page as HTML. Throws InputError, which says how to mend it, if the template is empty.
std::string explorer_page();

}  // namespace roofcast::reports
