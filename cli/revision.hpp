#pragma once
#include <string>

namespace roofcast::cli {

/// "0.1.0 (3c838d7)": the version and the git revision it was built from.
std::string version_text();

}  // namespace roofcast::cli
