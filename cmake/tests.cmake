# SPDX-License-Identifier: MIT
#
# Tests, fuzz targets, benches and examples: one executable per file. Libraries that only some of
# them use are linked as needed.
pkg_check_modules(TEST_LIBS REQUIRED IMPORTED_TARGET cmocka mpfr)
pkg_check_modules(BENCH_LIBS IMPORTED_TARGET openblas)
find_library(SLEEF_LIBRARY sleef)
find_library(OPENCL_LIBRARY OpenCL)

function(add_tool name source)
  add_executable(${name} ${source})
  target_link_options(${name} PRIVATE -Wl,--as-needed)
  target_link_libraries(${name} PRIVATE vyre_static ${ARGN})
  target_compile_definitions(${name} PRIVATE VYRE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
endfunction()

# Unit tests. tests/run runs them and counts their cases.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/test_*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_tool(${name} ${source} PkgConfig::TEST_LIBS gmp)
endforeach()

# The golden runner, and the tools that its RUN lines may call by name.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden.c
  ${CMAKE_SOURCE_DIR}/tests/tools/*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_tool(${name} ${source})
endforeach()

# Fuzz targets: with libFuzzer in the fuzz preset; elsewhere a driver replays the corpus, so that
# what fuzzing found stays found.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_tool(${name} ${source})
  if(VYRE_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/replay.c)
  endif()
endforeach()

# Benches are built by `make bench` only: bench/ir.c gives bench_ir.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.c)
add_custom_target(benches)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_tool(bench_${name} ${source})
  if(BENCH_LIBS_FOUND)
    target_link_libraries(bench_${name} PRIVATE PkgConfig::BENCH_LIBS)
  endif()
  foreach(library ${SLEEF_LIBRARY} ${OPENCL_LIBRARY})
    if(library)
      target_link_libraries(bench_${name} PRIVATE ${library})
    endif()
  endforeach()
  set_target_properties(bench_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(benches bench_${name})
endforeach()

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
