# SPDX-License-Identifier: MIT
#
# Tests, fuzz targets, benches and examples: one executable per file. Libraries that only some of
# them use are linked as needed.
pkg_check_modules(TEST_LIBS REQUIRED IMPORTED_TARGET cmocka mpfr)
find_library(SLEEF_LIBRARY sleef)
find_library(OPENCL_LIBRARY OpenCL)

function(add_tool name source)
  add_executable(${name} ${source})
  target_link_options(${name} PRIVATE -Wl,--as-needed)
  target_link_libraries(${name} PRIVATE vyre_cli_parts ${ARGN})
  target_compile_definitions(${name} PRIVATE VYRE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
endfunction()

# Unit tests. tests/run runs them and counts their cases. Each looks at its mutexes, and, where the
# compiler's leak sanitizer works on this machine (it has to follow its own process), for memory that is
# lost at the end. Other sanitizers look for themselves; tests with a malloc of their own count; in
# children of fork() the sanitizer's malloc may wait for a thread that is not there; and where much is
# compiled, it takes as long as the test, which CI's address sanitizer then looks at alone.
include(CheckCSourceRuns)
set(CMAKE_REQUIRED_FLAGS -fsanitize=leak)
check_c_source_runs("int main(void) { return 0; }" VYRE_LEAKS_FOUND)
unset(CMAKE_REQUIRED_FLAGS)
add_library(checked_mutex OBJECT ${CMAKE_SOURCE_DIR}/tests/checked_mutex.c)
target_link_libraries(checked_mutex PRIVATE vyre_flags)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/test_*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_tool(${name} ${source} PkgConfig::TEST_LIBS gmp)
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:checked_mutex>)
  file(STRINGS ${source} no_leaks REGEX
    "#include \".*(failing_malloc|memory_sweep|child_process|isolate)\\.h\"|fork\\(\\)")
  if(name MATCHES "^test_(cpu|cuda|fleet|icd|limits|loop|lower|opencl|poor|relax|scalars|vulkan)")
    set(no_leaks TRUE)
  endif()
  if(VYRE_LEAKS_FOUND AND NOT VYRE_SANITIZE AND NOT VYRE_FUZZ AND NOT no_leaks)
    target_link_options(${name} PRIVATE -fsanitize=leak)
  endif()
endforeach()

# Tests of the OpenCL driver are its clients, through the loader.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/test_icd*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  target_link_libraries(${name} PRIVATE ${OPENCL_LIBRARY})
  add_dependencies(${name} vyre-opencl)
endforeach()

# SPIRV-Tools validates the modules that the Vulkan backend emits; it is C++ behind a C interface.
find_library(SPIRV_TOOLS_LIBRARY SPIRV-Tools REQUIRED)
target_link_libraries(test_spirv PRIVATE ${SPIRV_TOOLS_LIBRARY} stdc++)

# The evaluator of PTX, and a stand-in for NVIDIA's driver on top of it, which the CUDA backend opens
# under its own name where a test leads it there.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/tools/ptx/*.c)
list(FILTER sources EXCLUDE REGEX "/standin\\.c$")
add_library(ptx_evaluator STATIC ${sources})
target_link_libraries(ptx_evaluator PUBLIC vyre_flags m)
target_include_directories(ptx_evaluator PUBLIC ${CMAKE_SOURCE_DIR}/tests/tools/ptx)
add_library(standin_cuda SHARED ${CMAKE_SOURCE_DIR}/tests/tools/ptx/standin.c)
target_link_libraries(standin_cuda PRIVATE ptx_evaluator Threads::Threads)
set_target_properties(standin_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/standin)
foreach(name test_ptx test_cuda test_cuda_faults test_cuda_start)
  if(TARGET ${name})
    target_link_libraries(${name} PRIVATE ptx_evaluator)
    add_dependencies(${name} standin_cuda)
  endif()
endforeach()

# The calculus of stretches against its definitions, for the unit test and for `make prove`.
add_library(stretch_check STATIC EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/stretch_check.c)
target_link_libraries(stretch_check PUBLIC vyre_static)
target_link_libraries(test_stretch PRIVATE stretch_check)

find_library(Z3_LIBRARY z3)
add_tool(prove ${CMAKE_SOURCE_DIR}/tests/proofs/prove.c ${Z3_LIBRARY})
set_target_properties(prove PROPERTIES EXCLUDE_FROM_ALL ON)

# Mathematical functions are tested as C: math_emit translates their expansions, one statement per
# operation, so that millions of points are checked per second.
add_tool(math_emit ${CMAKE_SOURCE_DIR}/tests/math/emit.c)
set(math_expanded ${CMAKE_BINARY_DIR}/math_expanded.c)
add_custom_command(OUTPUT ${math_expanded} COMMAND math_emit ${math_expanded} DEPENDS math_emit
  VERBATIM)
add_library(math_tested STATIC EXCLUDE_FROM_ALL ${math_expanded}
  ${CMAKE_SOURCE_DIR}/tests/math/points.c ${CMAKE_SOURCE_DIR}/tests/math/reference.c)
target_include_directories(math_tested PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_compile_options(math_tested PRIVATE -O3 -fno-trapping-math)
if(NOT CMAKE_CROSSCOMPILING)
  target_compile_options(math_tested PRIVATE -march=native)
endif()
target_link_libraries(math_tested PUBLIC vyre_flags PkgConfig::TEST_LIBS gmp m)
target_link_libraries(test_math PRIVATE math_tested)
add_tool(math_exhaustive ${CMAKE_SOURCE_DIR}/tests/math/exhaustive.c math_tested)
set_target_properties(math_exhaustive PROPERTIES EXCLUDE_FROM_ALL ON)

# The golden runner, and the tools that its RUN lines may call by name.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/golden.c
  ${CMAKE_SOURCE_DIR}/tests/tools/*.c)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  add_tool(${name} ${source})
endforeach()
# What a recipe's answers are compared with is the CPU's: its instructions, not the library's calls.
target_compile_options(recipe_sweep PRIVATE -O3 -march=native -fno-math-errno -fno-trapping-math)

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
  if(name STREQUAL "cluster" AND NOT MPI_FOUND)
    continue()
  endif()
  add_tool(bench_${name} ${source})
  if(name STREQUAL "cluster")
    target_link_libraries(bench_cluster PRIVATE PkgConfig::MPI m)
  endif()
  foreach(library ${SLEEF_LIBRARY} ${OPENCL_LIBRARY})
    if(library)
      target_link_libraries(bench_${name} PRIVATE ${library})
    endif()
  endforeach()
  set_target_properties(bench_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(benches bench_${name})
endforeach()

# bench_kernels has peers of its own: the C loops of bench/kernels/native and tuned, as each compiler
# makes them, OpenCL drivers by hand, and libraries that it opens itself. A variant is compiled by a
# command, because the compiler is not always the project's. Exact ones round what is written, as it is
# written; -Ofast only compiles, since linking with it changes the rounding of the whole process.
find_program(BENCH_GCC gcc)
find_program(BENCH_CLANG clang-19)
file(GLOB loops CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/kernels/native/*.c
  ${CMAKE_SOURCE_DIR}/bench/kernels/tuned/*.c)
set(exact -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math)
function(bench_variant name compiler)
  if(NOT compiler)
    return()
  endif()
  foreach(source ${loops})
    file(RELATIVE_PATH part ${CMAKE_SOURCE_DIR}/bench/kernels ${source})
    string(REPLACE "/" "_" part ${part})
    set(object ${CMAKE_BINARY_DIR}/bench_variants/${name}_${part}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bench_variants
      COMMAND ${compiler} -std=gnu11 -march=native -fPIC -Wall -Wextra -Werror -Wno-unknown-pragmas
        -DVARIANT=${name} -I${CMAKE_SOURCE_DIR}/bench ${ARGN} -MD -MF ${object}.d -c ${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d VERBATIM)
    target_sources(bench_kernels PRIVATE ${object})
  endforeach()
endfunction()
bench_variant(gcc_exact "${BENCH_GCC}" ${exact} -fopenmp-simd)
bench_variant(gcc_fast "${BENCH_GCC}" -Ofast -fopenmp-simd)
bench_variant(omp_exact "${BENCH_GCC}" ${exact} -fopenmp)
bench_variant(omp_fast "${BENCH_GCC}" -Ofast -fopenmp)
bench_variant(clang_exact "${BENCH_CLANG}" ${exact} -fopenmp-simd -Wno-pass-failed)
bench_variant(clang_fast "${BENCH_CLANG}" -O3 -ffast-math -fveclib=libmvec -fopenmp-simd -Wno-pass-failed)
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/kernels/*.c)
target_sources(bench_kernels PRIVATE ${sources})
set_source_files_properties(${CMAKE_SOURCE_DIR}/bench/kernels/roof.c PROPERTIES COMPILE_OPTIONS
  "-O3;-march=native;-fopenmp;-ffp-contract=fast")
target_include_directories(bench_kernels PRIVATE ${CMAKE_SOURCE_DIR}/bench)
target_link_libraries(bench_kernels PRIVATE gomp mvec m ${CMAKE_DL_LIBS})

# bench_vulkan drives a device by hand, with shaders that SPIRV-Tools assembles.
find_library(VULKAN_LIBRARY vulkan REQUIRED)
target_link_libraries(bench_vulkan PRIVATE ${VULKAN_LIBRARY} ${SPIRV_TOOLS_LIBRARY} stdc++)

# bench_runtime is several parts, with PoCL and Vulkan by hand beside them.
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/runtime/*.c)
target_sources(bench_runtime PRIVATE ${sources} ${CMAKE_SOURCE_DIR}/bench/kernels/opencl.c
  ${CMAKE_SOURCE_DIR}/bench/kernels/latency.c)
target_include_directories(bench_runtime PRIVATE ${CMAKE_SOURCE_DIR}/bench)

if(SLEEF_LIBRARY AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  target_link_libraries(bench_math PRIVATE math_tested mvec)
else() # its peers are x86 libraries
  set_target_properties(bench_math PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
