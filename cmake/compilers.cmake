# How every target is compiled: the language, warnings, sanitizers, ccache.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(ROOFCAST_CCACHE ccache)
mark_as_advanced(ROOFCAST_CCACHE)
foreach(language IN ITEMS CXX CUDA)
  if(ROOFCAST_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
    # ccache caches compilations with precompiled headers only with these two settings.
    set(CMAKE_${language}_COMPILER_LAUNCHER
        "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${ROOFCAST_CCACHE}")
  endif()
endforeach()

# Every target of the project links this privately. Clang's -Wconversion includes sign conversions
# and GCC's does not: they are off for both. In a .cu the host compiler sees generated code, so
# conversion warnings are off. GCC 12 reports overlapping copies in "text" + std::string where there
# are none (GCC bug 105651). Clang's -Wall reports unused constants, but only outside unity builds,
# so GCC is asked for them.
add_library(roofcast_warnings INTERFACE)
target_compile_options(
  roofcast_warnings
  INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wno-sign-conversion;-Werror>
    $<$<CXX_COMPILER_ID:GNU>:$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wunused-const-variable=1>>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror;-Werror=all-warnings>)

# roofcast_precompile(TARGET HEADER...): a debug build precompiles the headers, given as `path.hpp`,
# for all sources of the target. Optimized builds do not: with precompiled headers GCC 12 warns of
# bounds inside the standard library, and a build without them finds forgotten includes. ccache
# needs the compile options.
function(roofcast_precompile target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  set(headers ${ARGN})
  list(TRANSFORM headers PREPEND "<")
  list(TRANSFORM headers APPEND ">")
  target_precompile_headers(${target} PRIVATE ${headers})
  target_compile_options(
    ${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                      $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
endfunction()

include(unity)

if(ROOFCAST_SANITIZE OR ROOFCAST_FUZZ)
  set(roofcast_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all
                          -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${roofcast_sanitizers}>")
  add_link_options(${roofcast_sanitizers})
  # lld links these programs of 200 MB four times as fast as GNU's linker.
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld ROOFCAST_LLD)
  if(ROOFCAST_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(ROOFCAST_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "ROOFCAST_FUZZ needs Clang, found ${CMAKE_CXX_COMPILER_ID}. "
                        "Configure with the preset: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_custom_target(roofcast_fuzzers)
endif()

# roofcast_add_fuzzer(NAME SOURCE [LIBRARIES library...] [SEEDS folder...]): adds an executable of
# SOURCE, which defines LLVMFuzzerTestOneInput, and the test fuzz.NAME that runs it for five seconds
# from the files in SEEDS. Does nothing unless ROOFCAST_FUZZ is on.
function(roofcast_add_fuzzer name source)
  if(NOT ROOFCAST_FUZZ)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 fuzzer "" "" "LIBRARIES;SEEDS")
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE roofcast_warnings ${fuzzer_LIBRARIES})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(roofcast_fuzzers ${name})
  set(findings "${PROJECT_BINARY_DIR}/findings/${name}")
  file(MAKE_DIRECTORY "${findings}/corpus")
  add_test(NAME fuzz.${name}
           COMMAND ${name} -max_total_time=5 -timeout=10 -rss_limit_mb=2048 -verbosity=0
                   -artifact_prefix=${findings}/ "${findings}/corpus" ${fuzzer_SEEDS}
           WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
endfunction()
