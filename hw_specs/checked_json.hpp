#pragma once
// Parses every JSON file that the program reads: specifications, overlays, runs, suites, tables.
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// A kind of file: its largest size, and `mend`, the advice in errors about other text.
struct FileKind {
  std::size_t most_bytes;
  std::string_view mend;
  std::size_t most_members = std::numeric_limits<std::size_t>::max();  ///< of one object
};
inline constexpr FileKind kSpecification = {
    std::size_t{1} << 20,
    "start from a specification in hw_specs/ and keep the groups of its schema"};

/// Throws SpecError if the syntax is wrong, an object has a key twice or too many members, a number
/// overflows a double, or the text is empty, too long, nested over 64 deep or has a NUL byte.
void check_text(const std::string& file, std::string_view text, const FileKind& kind);

/// Parses JSON text that passes check_text. The text is read twice because nlohmann's parser with a
/// callback walks over the whole parent after each member: n² steps.
template <class AnyJson>
AnyJson parse_checked_as(const std::string& file, std::string_view text, const FileKind& kind) {
  check_text(file, text, kind);
  return AnyJson::parse(text);
}

Json parse_checked(const std::string& file, std::string_view text,
                   const FileKind& kind = kSpecification);

/// Every object of an overlay has fewer members; ordered_json searches members linearly.
inline constexpr std::size_t kMostOrderedMembers = 1000;

/// Like parse_checked, for a specification or an overlay: keeps the order of the file's members, at
/// most kMostOrderedMembers in an object.
nlohmann::ordered_json parse_ordered(const std::string& file, std::string_view text);

}  // namespace roofcast::specs
