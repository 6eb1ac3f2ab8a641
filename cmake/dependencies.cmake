# The libraries, and which Debian package holds each.

macro(roofcast_require package debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. On Debian: apt-get install ${debian_package} "
                        "(scripts/setup installs all that is missing).")
  endif()
endmacro()

roofcast_require(fmt libfmt-dev CONFIG)
# The program links fmt's header-only form, to run on machines without fmt. That form costs every file
# 1 to 4 s of compiling, so builds for testing take the compiled library under the same name.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR ROOFCAST_FUZZ)
  set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS ""
                                                        INTERFACE_LINK_LIBRARIES fmt::fmt)
endif()
roofcast_require(nlohmann_json nlohmann-json3-dev CONFIG)
roofcast_require(valijson libvalijson-dev CONFIG)
# Large traces of profilers. A shared library: the programs carry it (validation/CMakeLists.txt).
roofcast_require(simdjson libsimdjson-dev CONFIG)
# Static, as the rest of what the program links: it then runs on machines without Boost.
set(Boost_USE_STATIC_LIBS ON)
roofcast_require(Boost libboost-program-options-dev COMPONENTS program_options)
if(ROOFCAST_CUDA)
  roofcast_require(benchmark libbenchmark-dev CONFIG)
endif()
if(ROOFCAST_TESTS)
  roofcast_require(GTest "libgtest-dev libgmock-dev" CONFIG)
  roofcast_require(rapidcheck librapidcheck-dev CONFIG)
endif()
