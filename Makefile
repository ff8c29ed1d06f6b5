# SPDX-License-Identifier: MIT
BUILD ?= build/release

all:
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release > /dev/null && ninja -C $(BUILD)

test: all
	@cd $(BUILD) && ctest --output-on-failure

.PHONY: all test
