# SPDX-License-Identifier: MIT
#
# The installed tree: header, library, command, modules, pkg-config file, CMake package, man pages,
# shell completion, documents with licence and examples, and a list of all that for `make uninstall`.
include(CMakePackageConfigHelpers)

install(TARGETS vyre EXPORT vyreTargets DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/vyre/vyre.h include/vyre/extend.h include/vyre/ops.def
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

# As in the repository, so that the links between them hold.
install(FILES README.md LICENSE CHANGELOG.md CONTRIBUTING.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY editors DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md"
  PATTERN man EXCLUDE)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples FILES_MATCHING
  PATTERN "*.c" PATTERN "*.vyre" PATTERN "*.cl")

# After everything else: what was installed is known then.
install(CODE "set(manifest_dir \"${CMAKE_INSTALL_DATADIR}/vyre\")
set(library_dir \"${CMAKE_INSTALL_LIBDIR}\")")
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/installed.cmake)
