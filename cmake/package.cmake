# `cpack` in the build folder makes a Debian package of what `cmake --install` installs.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME roofcast)
set(CPACK_PACKAGE_CONTACT "roofcast developers <roofcast@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# The long description; the project's DESCRIPTION is the short one.
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "How long a kernel takes on a given shape and GPU, what bounds it, and how far
that is from the roofline. With the model as a C++ library.")
# npm packages draw charts as SVG and PNG.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nodejs, npm, man-db")
# dpkg-shlibdeps finds the packages of the shared libraries that the program links.
find_program(ROOFCAST_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(ROOFCAST_SHLIBDEPS)
if(ROOFCAST_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/package")
set(CPACK_OUTPUT_CONFIG_FILE "${PROJECT_BINARY_DIR}/CPackConfig.cmake")
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
