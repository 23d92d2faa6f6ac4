# What `cmake --install` lays down: program, backends, headers, matrices.
install(TARGETS bakeoff RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/bakeoff DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(EXISTS ${PROJECT_SOURCE_DIR}/matrix)
	install(DIRECTORY matrix DESTINATION ${CMAKE_INSTALL_DATADIR}/bakeoff)
endif()
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
