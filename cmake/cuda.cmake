# Decides whether CUDA sources are built: turns ROOFCAST_CUDA from AUTO, ON or OFF into ON or OFF.

string(TOUPPER "${ROOFCAST_CUDA}" roofcast_cuda_wanted)

if(roofcast_cuda_wanted)
  # The toolkit's installer does not put nvcc on the PATH.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(
      ROOFCAST_NVCC nvcc
      HINTS ENV CUDA_HOME ENV CUDA_PATH
      PATHS /usr/local/cuda /opt/cuda
      PATH_SUFFIXES bin)
    mark_as_advanced(ROOFCAST_NVCC)
    if(ROOFCAST_NVCC)
      set(CMAKE_CUDA_COMPILER "${ROOFCAST_NVCC}")
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(ROOFCAST_CUDA ON)
  elseif(roofcast_cuda_wanted STREQUAL "AUTO")
    set(ROOFCAST_CUDA OFF)
  else()
    message(FATAL_ERROR "ROOFCAST_CUDA is ON and no working nvcc was found. Install the CUDA Toolkit "
                        "(12.4 or later) and put nvcc on the PATH, or set CMAKE_CUDA_COMPILER to it, "
                        "or configure with -DROOFCAST_CUDA=OFF.")
  endif()
else()
  set(ROOFCAST_CUDA OFF)
endif()
message(STATUS "roofcast: CUDA kernels and validation harness: ${ROOFCAST_CUDA}")

if(ROOFCAST_CUDA)
  # wgmma and setmaxnreg exist for sm_90a alone; `native` fails where there is no GPU.
  # CMake reads CUDAARCHS only when it first finds the compiler, not when it configures again.
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    if(NOT "$ENV{CUDAARCHS}" STREQUAL "")
      set(CMAKE_CUDA_ARCHITECTURES "$ENV{CUDAARCHS}")
    else()
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90a-real)
    endif()
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc takes C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  find_package(CUDAToolkit REQUIRED)
endif()
