#pragma once
// The explorer: one page with the model in it, as WebAssembly. Made at build time from explorer/.
#include <string>
#include <string_view>

namespace roofcast::reports {

/// Empty where the build had no Emscripten or no page bundle.
extern const std::string_view kExplorerTemplate;

/// The whole page as HTML. Throws InputError, saying how to mend it, where the build has no
/// template.
std::string explorer_page();

}  // namespace roofcast::reports
