# What `cmake --install` lays down: the program, the libraries with their headers and CMake package,
# the specification files and the data that the reports need at run time.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(roofcast_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/roofcast")
set(roofcast_include_dir "${CMAKE_INSTALL_INCLUDEDIR}/roofcast")
set(roofcast_data_dir "${CMAKE_INSTALL_DATADIR}/roofcast")

install(
  TARGETS roofcast_model roofcast_specs
  EXPORT roofcastTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${roofcast_include_dir}")

install(
  EXPORT roofcastTargets
  NAMESPACE roofcast::
  DESTINATION "${roofcast_package_dir}")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/roofcastConfig.cmake.in" "${PROJECT_BINARY_DIR}/roofcastConfig.cmake"
  INSTALL_DESTINATION "${roofcast_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/roofcastConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/roofcastConfig.cmake"
              "${PROJECT_BINARY_DIR}/roofcastConfigVersion.cmake"
        DESTINATION "${roofcast_package_dir}")

if(TARGET roofcast)
  install(TARGETS roofcast RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/hw_specs/"
  DESTINATION "${roofcast_data_dir}/hw_specs"
  FILES_MATCHING
  PATTERN "*.json"
  PATTERN "README.md")
