# SPDX-License-Identifier: MIT
#
# The installed tree: header, library, command, pkg-config file, CMake package, man pages, shell
# completion.
include(CMakePackageConfigHelpers)

install(TARGETS vyre EXPORT vyreTargets DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/vyre/vyre.h include/vyre/ops.def
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/vyre)
install(TARGETS vyre_cli DESTINATION ${CMAKE_INSTALL_BINDIR})

configure_file(cmake/vyre.pc.in ${CMAKE_BINARY_DIR}/vyre.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/vyre.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/vyre)
configure_package_config_file(cmake/vyreConfig.cmake.in ${CMAKE_BINARY_DIR}/vyreConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/vyreConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/vyreConfig.cmake ${CMAKE_BINARY_DIR}/vyreConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT vyreTargets NAMESPACE vyre:: DESTINATION ${package_dir})

install(FILES docs/man/vyre.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES scripts/completion/vyre.bash RENAME vyre
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES scripts/completion/_vyre DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES scripts/completion/vyre.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
