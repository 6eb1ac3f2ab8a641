# Finds the libraries; an error names the Debian package of a missing one.

macro(roofcast_require package debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found. On Debian: apt-get install ${debian_package} "
                        "(scripts/setup --test installs all that is missing, for the tests too).")
  endif()
endmacro()

roofcast_require(fmt libfmt-dev CONFIG)
# The program links header-only fmt, to run on machines without libfmt. It adds 1 to 4 s to the
# compilation of each file, so debug and fuzz builds link the compiled library under the same name.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR ROOFCAST_FUZZ)
  set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS ""
                                                        INTERFACE_LINK_LIBRARIES fmt::fmt)
endif()
roofcast_require(nlohmann_json nlohmann-json3-dev CONFIG)
roofcast_require(valijson libvalijson-dev CONFIG)
# Parses large profiler traces. A shared library: copied beside the programs
# (validation/CMakeLists.txt).
roofcast_require(simdjson libsimdjson-dev CONFIG)
# Static, so that the program runs on machines without Boost.
set(Boost_USE_STATIC_LIBS ON)
roofcast_require(Boost libboost-program-options-dev COMPONENTS program_options)
if(ROOFCAST_TESTS)
  roofcast_require(GTest "libgtest-dev libgmock-dev" CONFIG)
  roofcast_require(rapidcheck librapidcheck-dev CONFIG)
endif()
