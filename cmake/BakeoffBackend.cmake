# bakeoff_backend(NAME SOURCES file... [LIBS target...])
#
# Builds bk-NAME.so: hidden visibility, one exported symbol (bk_backend), every symbol resolved
# at link time.  Installed with the package, so that an out-of-tree backend is built the same way.
function(bakeoff_backend name)
	cmake_parse_arguments(ARG "NO_INSTALL" "OUTPUT_DIRECTORY" "SOURCES;LIBS" ${ARGN})
	set(target bk-${name})
	add_library(${target} MODULE ${ARG_SOURCES})
	set_target_properties(
		${target} PROPERTIES PREFIX "" C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
				     VISIBILITY_INLINES_HIDDEN ON)
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
	if(TARGET bakeoff_core)
		target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
		target_link_libraries(${target} PRIVATE bakeoff_warnings)
		if(NOT ARG_OUTPUT_DIRECTORY)
			set(ARG_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/backends)
		endif()
	else()
		target_link_libraries(${target} PRIVATE bakeoff::backend)
	endif()
	if(ARG_OUTPUT_DIRECTORY)
		set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY
							   ${ARG_OUTPUT_DIRECTORY})
	endif()
	target_link_libraries(${target} PRIVATE ${ARG_LIBS})
	# clang leaves the sanitizer's own symbols to the program.
	if(NOT (BAKEOFF_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang))
		target_link_options(${target} PRIVATE -Wl,-z,defs)
	endif()
	if(TARGET bakeoff_core AND NOT ARG_NO_INSTALL)
		install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/bakeoff/backends)
	endif()
endfunction()
