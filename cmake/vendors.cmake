# SPDX-License-Identifier: MIT
#
# Runs during an installation: names the OpenCL driver to the loader. The file in /etc is written only
# by an installation below /usr or /usr/local, and removed by scripts/uninstall with the rest.
set(line "${CMAKE_INSTALL_PREFIX}/${driver}\n")
set(file ${CMAKE_INSTALL_PREFIX}/${vendors}/vyre.icd)
file(WRITE "$ENV{DESTDIR}${file}" "${line}")
list(APPEND CMAKE_INSTALL_MANIFEST_FILES ${file})
if(CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?$")
  file(WRITE "$ENV{DESTDIR}/etc/OpenCL/vendors/vyre.icd" "${line}")
endif()
