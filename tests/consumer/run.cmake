# cmake -P: variables as tests/consumer/CMakeLists.txt sets them.

set(prefix "${work_dir}/prefix")
set(consumer_build "${work_dir}/build")
file(REMOVE_RECURSE "${prefix}" "${consumer_build}")

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install "${build_dir}" --config "${config}" --prefix "${prefix}")
run(${CMAKE_COMMAND}
    -S "${source_dir}"
    -B "${consumer_build}"
    -G "${generator}"
    "-DCMAKE_CXX_COMPILER=${compiler}"
    "-DCMAKE_BUILD_TYPE=${config}"
    "-DCMAKE_PREFIX_PATH=${prefix}")
run(${CMAKE_COMMAND} --build "${consumer_build}" --config "${config}")
run("${consumer_build}/consumer")
