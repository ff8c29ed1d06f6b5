// SPDX-License-Identifier: MIT
//
// A backend's compile under the time limit of its options. Without one it runs in place. One that
// takes longer goes on, and whoever asks for the same again gets what it makes. *state is the
// caller's, to be given to the backend's release. Any thread.
#ifndef VYRE_BACKEND_LIMITED_COMPILE_H
#define VYRE_BACKEND_LIMITED_COMPILE_H

#include "backend/backend.h"

vyre_status limited_compile(const backend *b, vyre_program *program,
                            const vyre_compile_options *options, void **state, vyre_error *error);

#endif
