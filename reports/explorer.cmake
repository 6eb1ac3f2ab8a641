# Builds the explorer's page with the model as WebAssembly, and sets explorer_source to the C++
# source that holds it. ROOFCAST_EXPLORER is AUTO, ON or OFF.

string(TOUPPER "${ROOFCAST_EXPLORER}" explorer_wanted)
find_program(ROOFCAST_EMCC em++)
set(explorer_source explorer_none.cpp)
if(NOT explorer_wanted OR NOT ROOFCAST_REPORT_BUNDLE OR (explorer_wanted STREQUAL "AUTO" AND NOT ROOFCAST_EMCC))
  message(STATUS "roofcast: explorer: OFF")
  return()
endif()
if(NOT ROOFCAST_EMCC)
  message(FATAL_ERROR "ROOFCAST_EXPLORER is ON and em++ was not found. Install Emscripten (Debian: apt "
                      "install emscripten), or configure with -DROOFCAST_EXPLORER=OFF.")
endif()
message(STATUS "roofcast: explorer: ON (${ROOFCAST_EMCC})")

# Emscripten's folder is that of the real em++: Debian's /usr/bin/em++ is a link.
file(REAL_PATH "${ROOFCAST_EMCC}" emcc_path)
cmake_path(GET emcc_path PARENT_PATH emscripten_root)
set(wasm_source "${PROJECT_SOURCE_DIR}/cli/explorer/wasm")
set(wasm_build "${CMAKE_CURRENT_BINARY_DIR}/wasm")
set(wasm_model "${wasm_build}/roofcast_model.js")
file(GLOB_RECURSE wasm_inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/model/*.?pp"
     "${PROJECT_SOURCE_DIR}/cli/explorer/*.?pp")
file(GLOB wasm_more CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/hw_specs/*.?pp"
     "${PROJECT_SOURCE_DIR}/hw_specs/*.json" "${PROJECT_SOURCE_DIR}/hw_specs/calibration/*.json" *.?pp)
file(GLOB wasm_words CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/architectures/*" 
     "${PROJECT_SOURCE_DIR}/cli/output/answer*.?pp" "${PROJECT_SOURCE_DIR}/cli/output/step_output.?pp"
     "${PROJECT_SOURCE_DIR}/cli/output/json_writer.hpp" "${PROJECT_SOURCE_DIR}/cli/input/query.?pp"
     "${PROJECT_SOURCE_DIR}/cli/input/task.?pp")
set(wasm_unity ON)
if(NOT ROOFCAST_UNITY)
  set(wasm_unity OFF)
endif()
set(wasm_launcher "")
if(ROOFCAST_CCACHE)
  set(wasm_launcher "EM_COMPILER_WRAPPER=${ROOFCAST_CCACHE}")
endif()
# NODE_PATH is the folder of Debian's JavaScript packages, which Emscripten's optimizer needs.
add_custom_command(
  OUTPUT "${wasm_model}"
  COMMAND
    "${CMAKE_COMMAND}" -E env NODE_PATH=/usr/share/nodejs ${wasm_launcher}
    "${CMAKE_COMMAND}" -G "${CMAKE_GENERATOR}" -S "${wasm_source}" -B "${wasm_build}" --log-level=WARNING
    "-DCMAKE_TOOLCHAIN_FILE=${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake"
    -DCMAKE_BUILD_TYPE=Release "-DROOFCAST_UNITY=${wasm_unity}"
  COMMAND "${CMAKE_COMMAND}" -E env NODE_PATH=/usr/share/nodejs
          ${wasm_launcher} "${CMAKE_COMMAND}" --build "${wasm_build}"
  DEPENDS ${wasm_inputs} ${wasm_more} "${wasm_source}/CMakeLists.txt"
          "${PROJECT_SOURCE_DIR}/cmake/unity.cmake" ${wasm_words}
  COMMENT "Compiling the model to WebAssembly"
  VERBATIM)

set(explorer_source "${CMAKE_CURRENT_BINARY_DIR}/explorer_bundle.cpp")
add_custom_command(
  OUTPUT "${explorer_source}"
  COMMAND ${ROOFCAST_NODE} build.mjs "${explorer_source}" explorer "${wasm_model}"
  DEPENDS ${npm_stamp} ${page_inputs} "${wasm_model}"
  WORKING_DIRECTORY ${web}
  COMMENT "Bundling the explorer"
  VERBATIM)
