# cmake -DPROGRAM=… -DFOLDER=… -P shell_files.cmake
# Writes what a shell and man know of the program, by the program: FOLDER/man1/, FOLDER/completions/.

function(write output)
  execute_process(COMMAND "${PROGRAM}" ${ARGN} OUTPUT_FILE "${output}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}/man1" "${FOLDER}/completions")
write("${FOLDER}/completions/roofcast" completion bash)
write("${FOLDER}/completions/_roofcast" completion zsh)
write("${FOLDER}/completions/roofcast.fish" completion fish)

write("${FOLDER}/man1/roofcast.1" man)
execute_process(COMMAND "${PROGRAM}" --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX REPLACE ".*\nCommands:\n" "" commands "${help}")
string(REGEX REPLACE "\n\n.*" "\n" commands "${commands}")
string(REGEX MATCHALL "  [a-z]+  +[^\n]*\n" lines "${commands}")
foreach(line IN LISTS lines)
  string(REGEX MATCH "[a-z]+" command "${line}")
  write("${FOLDER}/man1/roofcast-${command}.1" man ${command})
endforeach()
