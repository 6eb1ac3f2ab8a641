# cmake -DNAMES=a;b -DFOLDER=… -DOUTPUT=… -P embed_suites.cmake: the JSON files as string literals.
set(entries "")
foreach(name IN LISTS NAMES)
  file(READ "${FOLDER}/${name}.json" text)
  string(APPEND entries "    {\"${name}\", R\"SUITE(${text})SUITE\"},\n")
endforeach()
list(LENGTH NAMES count)
file(
  WRITE "${OUTPUT}"
  "#include <array>

#include \"validation/suite.hpp\"

namespace roofcast::validation {

std::span<const EmbeddedSuite> embedded_suites() {
  static constexpr std::array<EmbeddedSuite, ${count}> suites = {{
${entries}  }};
  return suites;
}

}  // namespace roofcast::validation
")
