# cmake -DFOLDER=… -DOUTPUT=… -P embed.cmake
# Writes a C++ source with the configurations as string literals.

file(GLOB configurations "${FOLDER}/*.json")
set(entries "")
foreach(path IN LISTS configurations)
  get_filename_component(name "${path}" NAME)
  string(REGEX REPLACE "\\.json$" "" name "${name}")
  file(READ "${path}" text)
  string(APPEND entries "    {\"${name}\", R\"CONFIG(${text})CONFIG\"},\n")
endforeach()
list(LENGTH configurations count)

file(
  WRITE "${OUTPUT}"
  "#include <array>

#include \"architectures/loader.hpp\"

namespace roofcast::architectures {

std::span<const Embedded> embedded() {
  static constexpr std::array<Embedded, ${count}> configurations = {{
${entries}  }};
  return configurations;
}

}  // namespace roofcast::architectures
")
