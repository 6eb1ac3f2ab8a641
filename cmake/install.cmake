# What `cmake --install` installs: the program with its manual pages and completions, the libraries
# with their headers and CMake package, the specification files, the examples of kernel files and
# the data that the reports need at run time.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(roofcast_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/roofcast")
set(roofcast_include_dir "${CMAKE_INSTALL_INCLUDEDIR}/roofcast")
set(roofcast_data_dir "${CMAKE_INSTALL_DATADIR}/roofcast")

install(
  TARGETS roofcast_model roofcast_advice roofcast_specs
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
  set(shell_files "${PROJECT_BINARY_DIR}/cli/shell_files")
  install(DIRECTORY "${shell_files}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
  install(FILES "${shell_files}/completions/roofcast"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${shell_files}/completions/roofcast.fish"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  # Debian's zsh searches the first folder under /usr and the second under /usr/local.
  foreach(folder IN ITEMS vendor-completions site-functions)
    install(FILES "${shell_files}/completions/_roofcast"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/${folder}")
  endforeach()
endif()
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/hw_specs/"
  DESTINATION "${roofcast_data_dir}/hw_specs"
  FILES_MATCHING
  PATTERN "*.json"
  PATTERN "README.md")
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/examples/kernels"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples"
  FILES_MATCHING
  PATTERN "*.json"
  PATTERN "README.md")
# Debian requires this file name.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright)
