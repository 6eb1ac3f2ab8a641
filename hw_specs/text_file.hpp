#pragma once
#include <cstddef>
#include <string>

namespace roofcast::specs {

/// More than any file of the project holds, and little enough for memory.
inline constexpr std::size_t kMostFileBytes = std::size_t{64} << 20;

/// The whole of a regular file of at most kMostFileBytes. Throws InputError for anything else: a
/// pipe or a device may have no end, so its kind and size are looked at before it is opened.
std::string read_text(const std::string& path);

}  // namespace roofcast::specs
