#pragma once
#include <cstddef>
#include <string>

namespace roofcast::specs {

/// Larger than any file of the project, and small enough to hold in memory.
inline constexpr std::size_t kMostFileBytes = std::size_t{64} << 20;

/// The content of a regular file of at most kMostFileBytes. Throws InputError for anything else:
/// kind and size are checked before the file is opened, since a pipe or a device may have no end.
std::string read_text(const std::string& path);

}  // namespace roofcast::specs
