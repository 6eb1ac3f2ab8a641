# Writes the git revision into OUTPUT at build time, and only where it changed: a commit then costs
# one small file to compile, and an edit none.
execute_process(
  COMMAND git describe --always --dirty --abbrev=10
  WORKING_DIRECTORY "${SOURCE_DIR}"
  OUTPUT_VARIABLE revision
  OUTPUT_STRIP_TRAILING_WHITESPACE
  ERROR_QUIET
  RESULT_VARIABLE failed)
if(failed)
  set(revision "no revision")
endif()
file(
  CONFIGURE
  OUTPUT "${OUTPUT}"
  CONTENT "#include \"cli/revision.hpp\"

namespace roofcast::cli {

std::string version_text() { return \"@VERSION@ (@revision@)\"; }

}  // namespace roofcast::cli
"
  @ONLY)
