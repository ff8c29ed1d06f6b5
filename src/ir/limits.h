// SPDX-License-Identifier: MIT
//
// What a program may have at most. The verifier, the text parser and the wire decoder apply the
// same numbers, so that a program accepted by one is accepted by all.
#ifndef VYRE_IR_LIMITS_H
#define VYRE_IR_LIMITS_H

enum {
  LIMIT_CODE = 1 << 24,          // operations in a program
  LIMIT_CONSTS = 1 << 22,        // distinct constants
  LIMIT_DEPTH = 128,             // nested blocks
  LIMIT_OPEN = 136,              // nested blocks of a lowered program
  LIMIT_PARAMS = 288,            // parameters
  LIMIT_BUFFERS = 136,           // buffers, transient ones included
  LIMIT_REGIONS = 4096,          // regions
  LIMIT_SHARED_ARRAYS = 4096,    // shared arrays in a program
  LIMIT_SHARED_BYTES = 1 << 18,  // bytes of shared arrays in a region
  LIMIT_PRIVATE_BYTES = 1 << 18, // bytes of private arrays in a region
  LIMIT_NAME = 255,              // bytes in a name
  LIMIT_WORKGROUP = 1024,        // invocations in a workgroup
  LIMIT_EXPRESSION = 256,        // nested parentheses and calls in the text form
  LIMIT_FAST_ULP = 1 << 20,      // ULP that fast arithmetic may be off
  LIMIT_TUNABLES = 32,           // tunables
  LIMIT_TUNABLE_VALUES = 256,    // values of one
  LIMIT_CALLS = 32,              // functions of the text form that are open in one another
  LIMIT_INLINED = 1 << 16,       // calls of them in a text
  LIMIT_INLINED_BYTES = 1 << 24, // of the bodies that these calls read
  LIMIT_INCLUDES = 16,           // included files that are open in one another
  LIMIT_SOURCES = 256,           // included files
  LIMIT_TERMS = 64,              // numbers, tunables and operations in a formula of them
};

// An extent of a grid fits i32, so that an id converts to any 32-bit integer unchanged.
#define LIMIT_EXTENT       0x7fffffffu       // one extent of a grid
#define LIMIT_LENGTH       0xffffffffu       // elements in a buffer: len is u32
#define LIMIT_SOURCE_BYTES ((size_t)1 << 30) // bytes of a text or wire file

#endif
