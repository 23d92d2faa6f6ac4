# What `cmake --install` lays down: program, backends, headers, matrices.
install(TARGETS bakeoff RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/bakeoff DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY matrix DESTINATION ${CMAKE_INSTALL_DATADIR}/bakeoff)
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

# For backends that are built out of tree: a pkg-config file and a CMake package, both without the
# prefix in them, so that the tree may be moved.
include(CMakePackageConfigHelpers)
set(BACKEND_DIR ${CMAKE_INSTALL_LIBDIR}/bakeoff/backends)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bakeoff)
file(RELATIVE_PATH PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_TO_PREFIX ${PC_TO_PREFIX})
configure_file(cmake/bakeoff.pc.in ${PROJECT_BINARY_DIR}/package/bakeoff.pc @ONLY)
configure_package_config_file(
	cmake/BakeoffConfig.cmake.in ${PROJECT_BINARY_DIR}/package/BakeoffConfig.cmake
	INSTALL_DESTINATION ${package_dir}
	PATH_VARS CMAKE_INSTALL_INCLUDEDIR BACKEND_DIR)
write_basic_package_version_file(
	${PROJECT_BINARY_DIR}/package/BakeoffConfigVersion.cmake
	VERSION ${PROJECT_VERSION}
	COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/package/bakeoff.pc
	DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(
	FILES ${PROJECT_BINARY_DIR}/package/BakeoffConfig.cmake
	      ${PROJECT_BINARY_DIR}/package/BakeoffConfigVersion.cmake cmake/BakeoffBackend.cmake
	DESTINATION ${package_dir})
