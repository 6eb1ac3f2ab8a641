# roofcast_unity(TARGET): with ROOFCAST_UNITY the target's sources are compiled in groups of ten, so
# that the compiler and clang-tidy read headers once a group. Call it in the target's folder, after
# adding its sources.
function(roofcast_unity target)
  if(NOT ROOFCAST_UNITY OR (ROOFCAST_UNITY STREQUAL "ALL_BUT_MODEL" AND target STREQUAL "roofcast_model"))
    return()
  endif()
  roofcast_groups(groups ${target} "\\.cpp$" 10)
  foreach(group IN LISTS groups)
    set_source_files_properties(${members_${group}} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(
    ${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_CODE_BEFORE_INCLUDE
                         "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  # GCC takes an included source for a header, and warns of types that use its unnamed namespace.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# roofcast_cuda_unity(TARGET [ALONE]): compiles CUDA sources in groups of five, which CMake itself can
# from 3.31 on. Sources whose path matches ALONE, as they take long, are compiled alone.
function(roofcast_cuda_unity target)
  if(NOT ROOFCAST_UNITY)
    return()
  endif()
  roofcast_groups(groups ${target} "\\.cu$" 5 ${ARGN})
  foreach(group IN LISTS groups)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}_unity_${group}.cu")
    list(TRANSFORM members_${group} REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
    list(JOIN includes "" includes)
    file(CONFIGURE OUTPUT "${source}" CONTENT "${includes}")
    set_source_files_properties(${members_${group}} PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE "${source}")
  endforeach()
endfunction()

# roofcast_groups(GROUPS TARGET PATTERN MOST [LEFT_OUT]): divides the target's sources that match
# PATTERN and not LEFT_OUT into groups of at most MOST, and sets GROUPS to the group numbers and
# members_N to each group's sources. Two sources are never in one group if one declares a name in
# its unnamed namespace that the other declares there or imports with `using`.
function(roofcast_groups groups target pattern most)
  get_target_property(sources ${target} SOURCES)
  set(last 0)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    if(NOT path MATCHES "${pattern}" OR path MATCHES "^${PROJECT_BINARY_DIR}/" OR (ARGN AND path MATCHES "${ARGN}"))
      continue()
    endif()
    roofcast_unnamed(names used "${path}")
    foreach(group RANGE ${last})
      list(LENGTH members_${group} count)
      set(apart ${names} ${used})
      set(own ${apart})
      list(REMOVE_ITEM apart "" ${names_${group}})
      set(others ${names})
      list(REMOVE_ITEM others "" ${used_${group}})
      if(count LESS most AND "${apart}" STREQUAL "${own}" AND "${others}" STREQUAL "${names}")
        set(chosen ${group}) # group `last` is empty, so one is always found
        break()
      endif()
    endforeach()
    list(APPEND members_${chosen} "${path}")
    list(APPEND names_${chosen} ${names})
    list(APPEND used_${chosen} ${used})
    if(chosen EQUAL last)
      math(EXPR last "${last} + 1")
    endif()
  endforeach()
  set(numbers "")
  foreach(group RANGE ${last})
    if(members_${group})
      list(APPEND numbers ${group})
      set(members_${group} "${members_${group}}" PARENT_SCOPE)
    endif()
  endforeach()
  set(${groups} "${numbers}" PARENT_SCOPE)
endfunction()

# roofcast_unnamed(NAMES USED FILE): sets NAMES to the names that the file's unnamed namespaces
# declare (and some false hits), and USED to those that it imports with `using`, each prefixed with
# the enclosing namespace. It relies on clang-format: declarations begin in the first column.
function(roofcast_unnamed names used file)
  file(READ "${file}" text)
  string(REGEX REPLACE "[][;]" " " text "${text}") # CMake lists would break at these characters
  string(REGEX MATCHALL "\nnamespace {\n.*\n}  // namespace\n" unnamed "${text}")
  string(REGEX MATCHALL "\n[A-Za-z_][^\n]*" lines "${unnamed}")
  string(REGEX MATCHALL "\nusing [a-z_:]+::[A-Za-z_]+" taken "${text}")
  list(TRANSFORM taken REPLACE ".*::" "")
  set(found "")
  foreach(line IN LISTS lines)
    string(REGEX MATCHALL "[A-Za-z_0-9]+( ?[=({]|$)|(class|struct|enum) [A-Za-z_0-9]+" declared "${line}")
    list(TRANSFORM declared REPLACE "^(class|struct|enum) | ?[=({]$" "")
    list(APPEND found ${declared})
  endforeach()
  list(FILTER found EXCLUDE REGEX "^(|namespace|[A-Z_]+)$") # no macros: TEST(Suite, Name)
  list(REMOVE_DUPLICATES found)
  string(REGEX MATCH "\nnamespace [a-z_0-9:]+ {" around "${text}")
  list(TRANSFORM found PREPEND "${around} ")
  list(TRANSFORM taken PREPEND "${around} ")
  set(${names} "${found}" PARENT_SCOPE)
  set(${used} "${taken}" PARENT_SCOPE)
endfunction()
