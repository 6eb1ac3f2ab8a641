# cmake -DFOLDER=… -DOUTPUT=… -P embed_suites.cmake: the folder's JSON files as string literals.
file(GLOB files "${FOLDER}/*.json")
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  string(APPEND entries "    {\"${name}\", R\"SUITE(${text})SUITE\"},\n")
endforeach()
list(LENGTH files count)
file(
  WRITE "${OUTPUT}"
  "#include <array>

#include \"validation/runs/suite.hpp\"

namespace roofcast::validation {

std::span<const EmbeddedSuite> embedded_suites() {
  static constexpr std::array<EmbeddedSuite, ${count}> suites = {{
${entries}  }};
  return suites;
}

}  // namespace roofcast::validation
")
