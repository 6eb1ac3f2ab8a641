# Installs the packages of package-lock.json in reports/node_modules and links that into the build
# folder. scripts/setup writes the same stamp, so that neither repeats the other's work.
set(stamp "${REPORTS}/node_modules/.installed-lock")
file(LOCK "${REPORTS}/.packages.tmp" GUARD PROCESS TIMEOUT 600)
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${REPORTS}/package-lock.json" "${stamp}"
                RESULT_VARIABLE differs OUTPUT_QUIET ERROR_QUIET)
if(differs)
  execute_process(COMMAND "${NPM}" ci --no-audit --no-fund --loglevel=error
                  WORKING_DIRECTORY "${REPORTS}" RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "npm ci failed in ${REPORTS}. It needs the npm registry once; without one, "
                        "configure with -DROOFCAST_REPORT_BUNDLE=OFF.")
  endif()
  configure_file("${REPORTS}/package-lock.json" "${stamp}" COPYONLY)
endif()
file(REMOVE_RECURSE "${WEB}/node_modules")
file(CREATE_LINK "${REPORTS}/node_modules" "${WEB}/node_modules" SYMBOLIC)
file(TOUCH "${WEB}/packages.stamp")
