# Decides whether the Python module is built: turns ROOFCAST_PYTHON (AUTO, ON, OFF) into ON or OFF.

string(TOUPPER "${ROOFCAST_PYTHON}" roofcast_python_wanted)

set(ROOFCAST_PYTHON OFF)
if(roofcast_python_wanted)
  # Debian's packages belong to /usr/bin/python3, which need not be the first python3 on the PATH.
  if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.Module)
  if(Python_FOUND)
    find_package(pybind11 2.10 QUIET CONFIG)
  endif()
  if(Python_FOUND AND pybind11_FOUND)
    set(ROOFCAST_PYTHON ON)
  elseif(NOT roofcast_python_wanted STREQUAL "AUTO")
    message(FATAL_ERROR "ROOFCAST_PYTHON is ON, and Python 3.11 or later with its headers, or pybind11, was "
                        "not found. On Debian: apt-get install python3-dev pybind11-dev, or configure with "
                        "-DROOFCAST_PYTHON=OFF.")
  endif()
endif()
message(STATUS "roofcast: Python module: ${ROOFCAST_PYTHON}")
