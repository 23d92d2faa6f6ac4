# Writes a manual page for the program and for each of its commands, by asking the program itself:
#   cmake -DBAKEOFF=path -DFOLDER=path -P man.cmake
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})

function(write_page name)
	execute_process(
		COMMAND ${BAKEOFF} --man ${ARGN}
		OUTPUT_FILE ${FOLDER}/${name}.1
		COMMAND_ERROR_IS_FATAL ANY)
endfunction()

execute_process(
	COMMAND ${BAKEOFF} --commands
	OUTPUT_VARIABLE commands
	OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" commands "${commands}")
write_page(bakeoff)
foreach(command ${commands})
	write_page(bakeoff-${command} ${command})
endforeach()
