#pragma once
// The one reader of JSON files: specifications, overlays, run files and suites.
#include <cstddef>
#include <string>
#include <string_view>

#include "hw_specs/pointer.hpp"

namespace roofcast::specs {

/// A kind of file: its largest size, and what to do about text that is none of its kind.
struct FileKind {
  std::size_t most_bytes;
  std::string_view mend;
};
inline constexpr FileKind kSpecification = {
    std::size_t{1} << 20,
    "start from a specification in hw_specs/ and keep the groups of its schema"};

/// Parses JSON text. Throws SpecError where the syntax is wrong, a key stands twice in one object,
/// a number is out of the range of a double, or the text is empty, too long, holds a NUL byte or is
/// nested more than 64 deep.
Json parse_checked(const std::string& file, std::string_view text,
                   const FileKind& kind = kSpecification);

/// The same with the members in the order of the file.
nlohmann::ordered_json parse_ordered(const std::string& file, std::string_view text,
                                     const FileKind& kind = kSpecification);

}  // namespace roofcast::specs
