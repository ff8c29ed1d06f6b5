# SPDX-License-Identifier: MIT
#
# The front door. It installs what is missing, then calls CMake with a preset and Ninja.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
PRESET ?= release
BUILD := build/$(PRESET)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 30
CONFORM_SECONDS ?= 60
MUTANTS ?= 300
SEED ?= 1
FOLDER ?= src
CONFORM_SEED ?= $(shell date +%s)
RANDOM_PROGRAMS ?= 100000
OPENCL_KERNELS ?= 1000
RANDOM_SEED ?= 0
DEPS := build/.deps

all: build ## build the library, the command and the tests (PRESET=release)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo "  PRESET is one of release, debug, asan, tsan, coverage, clang, fuzz (CMakePresets.json)"

$(DEPS): scripts/install-deps
	@scripts/install-deps && mkdir -p build && touch $@

# What is built without tests needs less.
build/.deps-demo: scripts/install-deps
	@[ -e $(DEPS) ] || scripts/install-deps build; mkdir -p build && touch $@

build/demo/build.ninja: CMakePresets.json | build/.deps-demo
	@umask 022; cmake --preset demo --log-level=WARNING > /dev/null

$(BUILD)/build.ninja: CMakePresets.json | $(DEPS)
	@umask 022; cmake --preset $(PRESET) --log-level=WARNING > /dev/null

# Ninja runs CMake again by itself when a list of files or a CMake file changed. Modules that a group
# can write would not be loaded, so the umask is set.
build: $(BUILD)/build.ninja
	@umask 022; ninja -C $(BUILD) --quiet | sed '/no work to do/d'
	@ln -sfn $(BUILD)/compile_commands.json compile_commands.json

demo: build/demo/build.ninja ## run a saxpy and a mandelbrot; installs no more than they need
	@umask 022; ninja -C build/demo --quiet | sed '/no work to do/d'
	@BUILD=build/demo examples/demo

test: build ## run all tests; the last line counts them
	@tests/run $(BUILD)

coverage: ## which share of the lines and branches of src/ the tests reach, by folder
	@$(MAKE) --no-print-directory PRESET=coverage build
	@scripts/coverage build/coverage

mutants: ## whether the tests notice faults: MUTANTS=300 of them, chosen by SEED, below FOLDER (src)
	@[ -e build/coverage/reached-by.json ] || $(MAKE) --no-print-directory coverage > /dev/null
	@scripts/mutants --count $(MUTANTS) --seed $(SEED) --folder $(FOLDER)

bench: build ## build and run the benches (BENCH="name ..." picks some)
	@ninja -C $(BUILD) --quiet benches | sed '/no work to do/d'
	@set -e; for b in $(or $(addprefix $(BUILD)/bench_,$(BENCH)),$(BUILD)/bench_*); do \
	  if [ -x $$b ]; then echo "== $$b"; $$b; fi; done

bench-python: build ## vyre from Python beside numba, taichi and pyopencl (PARTS="start calls blur ...")
	@bench/python/run $(BUILD) $(PARTS)

peers: ## get what bench_kernels compares with and Debian does not have (scripts/get-peers)
	@scripts/get-peers $(PEERS)

exhaustive: build ## every f32 argument of every function of one argument (MATH="name ..." picks some)
	@ninja -C $(BUILD) --quiet math_exhaustive | sed '/no work to do/d'
	@$(BUILD)/math_exhaustive $(MATH)

recipes: build ## every f32 through the recipes for exact arithmetic, 10^9 quotients, 10^8 fma (RECIPES="div sqrt ...")
	@$(BUILD)/recipe_sweep $(RECIPES)

prove: build ## prove the rules by which checks are left out (PROVE=--all: for more strides)
	@ninja -C $(BUILD) --quiet prove | sed '/no work to do/d'
	@$(BUILD)/prove tests/proofs/lemmas.smt2 $(PROVE)

report-look: build ## make a page of what vyre learned, and pictures of it in Chromium (build/report)
	@scripts/install-deps look
	@scripts/report-look $(BUILD)/vyre build/report

clients: build ## install clients of OpenCL and run them on the driver and on PoCL (CLIENTS="clinfo ...")
	@scripts/clients $(BUILD) $(CLIENTS)

oclgrind: build ## compare the OpenCL C kernels of the tests with oclgrind, where it is installed
	@tests/oclgrind $(BUILD)

conform: build ## compare all backends with the reference for CONFORM_SECONDS (60) each
	@$(BUILD)/vyre conform --seconds $(CONFORM_SECONDS) --seed $(CONFORM_SEED) \
	  --out build/conform-failures examples/*.vyre tests/conform/*.vyre

real-kernels: build ## which kernels of real projects are read (PROJECTS="darktable silx ..." picks some)
	@scripts/real-kernels --vyre $(BUILD)/vyre $(PROJECTS)

random: build ## RANDOM_PROGRAMS (100000) programs from RANDOM_SEED (0) on the CPU backend, beside ref
	@tests/random-cpu $(BUILD) $(RANDOM_PROGRAMS) --seed $(RANDOM_SEED)

random-opencl: build ## OPENCL_KERNELS (1000) random OpenCL C kernels from RANDOM_SEED (0), beside the machine's driver
	@tests/random-opencl $(BUILD) $(OPENCL_KERNELS) --seed $(RANDOM_SEED)

random-vulkan: build ## RANDOM_PROGRAMS (100000) programs from RANDOM_SEED (0) on Vulkan, beside ref
	@VYRE_VULKAN=on $(BUILD)/vyre conform --backend vulkan --suite random --count $(RANDOM_PROGRAMS) \
	  --seed $(RANDOM_SEED) --out build/conform-failures

validate-vulkan: build ## the Vulkan backend's tests and RANDOM_VALIDATED (160) programs under the Khronos validation layer
	@tests/validate-vulkan $(BUILD) $(RANDOM_VALIDATED) || [ $$? = 77 ]

random-cuda: build ## RANDOM_PROGRAMS (100000) programs from RANDOM_SEED (0) on CUDA, played by the stand-in, beside ref
	@home=$$(mktemp -d); VYRE_HOME=$$home LD_LIBRARY_PATH=$(CURDIR)/$(BUILD)/standin $(BUILD)/vyre conform \
	  --backend cuda --suite random --count $(RANDOM_PROGRAMS) --seed $(RANDOM_SEED) \
	  --out build/conform-failures; status=$$?; rm -rf $$home; exit $$status

random-footprint: build ## RANDOM_PROGRAMS (100000) programs from RANDOM_SEED (0): what parts of grids do is in their footprints
	@$(BUILD)/random_footprint $(RANDOM_PROGRAMS) $(RANDOM_SEED)

random-cluster: build ## RANDOM_PROGRAMS (100000) programs from RANDOM_SEED (0) on 1 to 8 ranks, beside one process
	@home=$$(mktemp -d); VYRE_HOME=$$home $(BUILD)/random_cluster $(RANDOM_PROGRAMS) $(RANDOM_SEED); \
	  status=$$?; rm -rf $$home; exit $$status

ptxas: build ## assemble all programs and 5000 random ones with NVIDIA's ptxas, where it is installed
	@tests/ptxas $(BUILD) $(PTXAS_RANDOM) || [ $$? = 77 ]

fuzz: ## fuzz each target for FUZZ_SECONDS (30), starting from its corpus
	@$(MAKE) --no-print-directory PRESET=fuzz build
	@tests/fuzz/run build/fuzz $(FUZZ_SECONDS)

docs: build ## rewrite the generated tables of docs/IR.md and docs/PASSES.md
	@$(BUILD)/gendocs --write docs/IR.md docs/PASSES.md

python: build ## build the Python package in place (build/PRESET/python) and run its tests
	@python/build_backend.py stage $(BUILD)/python --build $(BUILD)
	@tests/run $(BUILD) script.python

wheel: build ## a wheel that needs nothing of this machine's LLVM, in build/wheel
	@scripts/install-deps python
	@python/build_backend.py wheel build/wheel --build $(BUILD)

deb: build ## Debian packages in build/deb: libvyre0, vyre, libvyre-dev, vyre-opencl-icd
	@scripts/install-deps package
	@scripts/make-deb $(BUILD) build/deb

.PHONY: deb-try
deb-try: deb ## install the packages on a Debian of its own, run what they have, remove them (as root)
	@scripts/try-deb build/deb

api-docs: ## the API reference from the public headers, in build/api (Doxygen)
	@scripts/install-deps package
	@mkdir -p build/api; { cat docs/Doxyfile; echo OUTPUT_DIRECTORY=build/api; } | doxygen - && \
	  echo "build/api/html/index.html"

arm64: ## build for arm64 and run the tests of the cpu backend under QEMU (ARM64_TESTS="word ..." picks others)
	@scripts/install-deps cross
	@scripts/arm64 $(ARM64_TESTS)

release-check: ## whether this commit can be tagged as its version
	@scripts/release-check

editor-files: ## write the lists of words in editors/ from the tables of the language
	@scripts/editor-files

install: build ## install below PREFIX (/usr/local), with DESTDIR in front
	@umask 022; DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)" > /dev/null
	@echo "installed below $(DESTDIR)$(PREFIX)"

uninstall: ## remove what make install put below PREFIX
	@scripts/uninstall "$(DESTDIR)$(PREFIX)"
	@echo "removed from $(DESTDIR)$(PREFIX)"

format: ## clang-format the sources
	@git ls-files '*.c' '*.h' | xargs clang-format -i

tidy: build ## clang-tidy over the sources (.clang-tidy)
	@git ls-files 'src/*.c' | xargs -P $$(nproc) -n 4 clang-tidy --quiet -p $(BUILD)

clean: ## remove what was built
	@rm -rf build compile_commands.json

.PHONY: all help build demo test coverage mutants bench peers exhaustive recipes prove report-look oclgrind clients conform random random-opencl random-vulkan random-cuda random-footprint random-cluster ptxas fuzz \
  docs bench-python python wheel deb api-docs arm64 release-check editor-files install uninstall format tidy clean
