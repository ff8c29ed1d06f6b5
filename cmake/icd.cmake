# SPDX-License-Identifier: MIT
#
# The OpenCL driver: libvyre-opencl.so over libvyre, and vyre.icd, which names it to the loader. The
# helpers of src/base that it uses are its own copies. It is never unloaded: its threads stay.
file(GLOB VYRE_ICD_SOURCES CONFIGURE_DEPENDS src/icd/*.c)
add_library(vyre-opencl MODULE ${VYRE_ICD_SOURCES})
target_link_libraries(vyre-opencl PRIVATE vyre vyre_static)
target_link_options(vyre-opencl PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-z,nodelete)
set_target_properties(vyre-opencl PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS vyre-opencl DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Of the build tree: OCL_ICD_VENDORS=build/release/vendors.
file(WRITE ${CMAKE_BINARY_DIR}/vendors/vyre.icd "${CMAKE_BINARY_DIR}/libvyre-opencl.so\n")
# The loader looks in /etc, wherever a driver is installed; an installation below another root or as
# another user has the file beside the library, for OCL_ICD_VENDORS.
install(CODE "file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/vyre/vendors/vyre.icd\"
  \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libvyre-opencl.so\\n\")
list(APPEND CMAKE_INSTALL_MANIFEST_FILES
  \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/vyre/vendors/vyre.icd\")")
