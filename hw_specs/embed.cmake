# cmake -DFOLDER=… -DOUTPUT=… -P embed.cmake
# Writes a C++ source with the specifications, their calibrations, the schemas and relatives.json as
# string literals.

file(GLOB specifications "${FOLDER}/*.json")
list(FILTER specifications EXCLUDE REGEX "(schema|/relatives)\\.json$")

set(entries "")
foreach(path IN LISTS specifications)
  get_filename_component(name "${path}" NAME_WE)
  file(READ "${path}" text)
  set(overlay "")
  if(EXISTS "${FOLDER}/calibration/${name}.json")
    file(READ "${FOLDER}/calibration/${name}.json" overlay)
  endif()
  string(APPEND entries
         "    {\"${name}\",\n     R\"SPEC(${text})SPEC\",\n     R\"SPEC(${overlay})SPEC\"},\n")
endforeach()
list(LENGTH specifications count)
file(READ "${FOLDER}/schema.json" schema)
file(READ "${FOLDER}/overlay.schema.json" overlay_schema)
file(READ "${FOLDER}/kernel.schema.json" kernel_schema)
file(READ "${FOLDER}/relatives.json" relatives)

file(
  WRITE "${OUTPUT}"
  "#include <array>

#include \"hw_specs/kernel_file.hpp\"
#include \"hw_specs/loader.hpp\"

namespace roofcast::specs {

std::span<const Embedded> embedded() {
  static constexpr std::array<Embedded, ${count}> specifications = {{
${entries}  }};
  return specifications;
}

std::string_view schema_text() {
  return R\"SPEC(${schema})SPEC\";
}

std::string_view overlay_schema_text() {
  return R\"SPEC(${overlay_schema})SPEC\";
}

std::string_view kernel_schema_text() {
  return R\"SPEC(${kernel_schema})SPEC\";
}

std::string_view relatives_text() {
  return R\"SPEC(${relatives})SPEC\";
}

}  // namespace roofcast::specs
")
