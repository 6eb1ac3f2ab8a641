# cmake -P: builds the wheel from a copy of what it is made of, and installs it into a folder of its own.
# Variables as tests/python/CMakeLists.txt sets them.

set(source "${work_dir}/source")
set(wheels "${work_dir}/wheels")
file(REMOVE_RECURSE "${source}" "${wheels}" "${site}")
file(MAKE_DIRECTORY "${source}")
# setuptools writes beside what it builds: not into the checkout.
file(COPY "${source_dir}/pyproject.toml" "${source_dir}/setup.py" "${source_dir}/CMakeLists.txt"
          "${source_dir}/README.md" "${source_dir}/LICENSE" "${source_dir}/python" DESTINATION "${source}")

set(ENV{ROOFCAST_BUILD_DIR} "${build_dir}")
set(pip "${python}" -m pip --disable-pip-version-check --no-cache-dir)
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${pip} wheel --no-build-isolation --no-deps --no-index --wheel-dir "${wheels}" "${source}")
file(GLOB wheel "${wheels}/roofcast-*.whl")
run(${pip} install --no-deps --no-index --target "${site}" "${wheel}")
foreach(file IN ITEMS py.typed __init__.pyi _core.pyi _sweep.pyi)
  if(NOT EXISTS "${site}/roofcast/${file}")
    message(FATAL_ERROR "the wheel lacks roofcast/${file}: see [tool.setuptools.package-data] in pyproject.toml")
  endif()
endforeach()
