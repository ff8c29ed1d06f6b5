# SPDX-License-Identifier: MIT
#
# The examples in C, which `make demo` shows.
# Examples use nothing but the public header and the shared library, as a user's program does.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_compile_options(example_${name} PRIVATE -Wall -Wextra -Wpedantic -Werror)
  target_link_libraries(example_${name} PRIVATE vyre m)
  if(VYRE_SANITIZE)
    target_link_options(example_${name} PRIVATE -fsanitize=${VYRE_SANITIZE})
  endif()
endforeach()
