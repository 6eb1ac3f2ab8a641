#pragma once
// The one reader of JSON files: specifications, overlays, run files and suites.
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// A kind of file: its largest size, and what to do about text that is none of its kind.
struct FileKind {
  std::size_t most_bytes;
  std::string_view mend;
  std::size_t most_members = std::numeric_limits<std::size_t>::max();  ///< of one object
};
inline constexpr FileKind kSpecification = {
    std::size_t{1} << 20,
    "start from a specification in hw_specs/ and keep the groups of its schema"};

/// Throws SpecError where the syntax is wrong, a key stands twice in one object, a number is out of
/// the range of a double, an object has too many members, or the text is empty, too long, holds a
/// NUL byte or is nested more than 64 deep.
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

/// More members than any object of an overlay has: ordered_json searches them one by one.
inline constexpr std::size_t kMostOrderedMembers = 1000;

/// The same of a specification or an overlay, with the members in the order of the file, at most
/// kMostOrderedMembers an object.
nlohmann::ordered_json parse_ordered(const std::string& file, std::string_view text);

}  // namespace roofcast::specs
