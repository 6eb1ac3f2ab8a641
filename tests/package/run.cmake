# cmake -P: variables as tests/package/CMakeLists.txt sets them.

set(packages "${work_dir}/packages")
set(root "${work_dir}/root")
file(REMOVE_RECURSE "${packages}" "${root}" "${work_dir}/consumer")

function(run output)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  set(${output} "${said}" PARENT_SCOPE)
endfunction()

# The text has the part, or the test fails.
function(expect text part)
  string(FIND "${text}" "${part}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "expected '${part}' in:\n${text}")
  endif()
endfunction()

run(said "${cpack}" -G DEB -C "${config}" --config "${build_dir}/CPackConfig.cmake" -B "${packages}")
file(GLOB package "${packages}/roofcast_${version}*.deb")
if(NOT package)
  message(FATAL_ERROR "cpack made no roofcast_${version}*.deb in ${packages}")
endif()

run(files "${dpkg_deb}" -c "${package}")
foreach(file IN ITEMS
        bin/roofcast
        lib/libroofcast_model.a
        lib/libroofcast_advice.a
        lib/cmake/roofcast/roofcastConfig.cmake
        include/roofcast/model/roofcast.hpp
        include/roofcast/hw_specs/loader.hpp
        share/roofcast/hw_specs/h200-sxm.json
        share/doc/roofcast/copyright
        share/doc/roofcast/examples/kernels/swiglu.json
        share/man/man1/roofcast.1
        share/man/man1/roofcast-predict.1
        share/bash-completion/completions/roofcast
        share/zsh/vendor-completions/_roofcast
        share/fish/vendor_completions.d/roofcast.fish)
  expect("${files}" " ./usr/${file}\n")
endforeach()

# What the program needs is named, and nothing that it carries with it.
run(depends "${dpkg_deb}" -f "${package}" Depends)
expect("${depends}" "libc6 (>=")
expect("${depends}" "libstdc++6 (>=")
foreach(carried IN ITEMS libfmt libboost)
  string(FIND "${depends}" "${carried}" place)
  if(config STREQUAL "Release" AND NOT place EQUAL -1)
    message(FATAL_ERROR "the package depends on ${carried}, which is linked into the program: ${depends}")
  endif()
endforeach()

# Where nothing else of the project is: no path, no home, another folder.
run(said "${dpkg_deb}" -x "${package}" "${root}")
set(program env -i -C "${root}" PATH=/usr/bin:/bin HOME=/nonexistent "${root}/usr/bin/roofcast")
run(said ${program} --version)
expect("${said}" "roofcast ${version}")
run(said ${program} predict usr/share/doc/roofcast/examples/kernels/swiglu.json --gpu h200-sxm)
expect("${said}" "expected time")
run(said ${program} predict stream.copy --n 1e8 --gpu usr/share/roofcast/hw_specs/h200-sxm.json)
expect("${said}" "expected time")
run(said ${program} roofline --gpu h200-sxm -o roof.json)
file(SIZE "${root}/roof.json" size)
if(size LESS 1000)
  message(FATAL_ERROR "a roofline of ${size} B is none")
endif()

# And a project finds the libraries there.
run(said "${CMAKE_COMMAND}" -S "${consumer}" -B "${work_dir}/consumer" -G "${generator}" "-DCMAKE_BUILD_TYPE=${config}"
    "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_PREFIX_PATH=${root}/usr")
run(said "${CMAKE_COMMAND}" --build "${work_dir}/consumer" --config "${config}")
run(said "${work_dir}/consumer/consumer")
