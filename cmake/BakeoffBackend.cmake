# bakeoff_backend(NAME SOURCES file... [LIBS target...])
#
# Builds bk-NAME.so: hidden visibility, one exported symbol (bk_backend), every symbol resolved
# at link time.  Installed with the package, so that an out-of-tree backend is built the same way;
# `cmake --install` puts it where the program finds it.
# The failures that the backend owns up to, conform.expect beside its CMakeLists.txt, go beside it as
# bk-NAME.expect, where `bakeoff conform` looks for them.
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
	set(expect ${CMAKE_CURRENT_SOURCE_DIR}/conform.expect)
	if(EXISTS ${expect})
		set(expect_out ${CMAKE_CURRENT_BINARY_DIR}/${target}.expect.stamp)
		add_custom_command(
			OUTPUT ${expect_out}
			COMMAND ${CMAKE_COMMAND} -E copy ${expect}
				$<TARGET_FILE_DIR:${target}>/${target}.expect
			COMMAND ${CMAKE_COMMAND} -E touch ${expect_out}
			DEPENDS ${expect} ${target}
			VERBATIM)
		add_custom_target(${target}-expect ALL DEPENDS ${expect_out})
	endif()
	if(TARGET bakeoff_core)
		set(install_dir ${CMAKE_INSTALL_LIBDIR}/bakeoff/backends)
	else()
		set(install_dir ${BAKEOFF_BACKEND_DIR})
	endif()
	if(NOT ARG_NO_INSTALL)
		install(TARGETS ${target} LIBRARY DESTINATION ${install_dir})
		if(EXISTS ${expect})
			install(
				FILES ${expect}
				DESTINATION ${install_dir}
				RENAME ${target}.expect)
		endif()
	endif()
endfunction()
