# SPDX-License-Identifier: MIT
#
# Runs at the end of an installation: keeps the list of what was installed in the tree itself, where
# scripts/uninstall finds it, and tells the system's loader about the library, or the user what to do
# where it does not look.
set(here ${CMAKE_INSTALL_PREFIX}/${manifest_dir}/manifest)
set(names ${manifest_dir}/manifest)
foreach(file ${CMAKE_INSTALL_MANIFEST_FILES})
  file(RELATIVE_PATH name ${CMAKE_INSTALL_PREFIX} ${file})
  list(APPEND names ${name})
endforeach()
list(JOIN names "\n" text)
file(WRITE "$ENV{DESTDIR}${here}" "${text}\n")

if(NOT "$ENV{DESTDIR}" STREQUAL "")
  return() # packed, and used elsewhere
endif()
find_program(LDCONFIG ldconfig PATHS /sbin /usr/sbin)
if(NOT LDCONFIG)
  return()
endif()
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(user EQUAL 0)
  execute_process(COMMAND ${LDCONFIG})
endif()
set(library ${CMAKE_INSTALL_PREFIX}/${library_dir}/libvyre.so)
execute_process(COMMAND ${LDCONFIG} -p OUTPUT_VARIABLE known)
string(FIND "${known}" "=> ${library}" found)
if(found EQUAL -1)
  message(NOTICE "The system does not look for libraries in ${CMAKE_INSTALL_PREFIX}/${library_dir}: "
    "link programs with -Wl,-rpath,${CMAKE_INSTALL_PREFIX}/${library_dir}, or set LD_LIBRARY_PATH.")
endif()
