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
# Of an installation: beside the documents, for OCL_ICD_VENDORS; and in /etc, where the loader looks, of
# one that is the system's.
install(CODE "set(vendors \"${CMAKE_INSTALL_DATADIR}/vyre/vendors\")
set(driver \"${CMAKE_INSTALL_LIBDIR}/libvyre-opencl.so\")")
install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/vendors.cmake)
