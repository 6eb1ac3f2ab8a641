#pragma once
#include <span>
#include <string_view>

namespace roofcast {

/// The known word nearest to a typo by edit distance (insertions, deletions, replacements), if it
/// is near enough to be meant: one edit, or a third of the longer word's letters. Else empty.
std::string_view closest(std::string_view typo, std::span<const std::string_view> known);

}  // namespace roofcast
