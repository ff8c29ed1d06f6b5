// SPDX-License-Identifier: MIT
//
// Programs to files, in text or wire form; `-` is standard output. Any thread.
#ifndef VYRE_CLI_SAVE_H
#define VYRE_CLI_SAVE_H

#include <vyre/vyre.h>

typedef enum save_form { SAVE_BY_NAME, SAVE_TEXT, SAVE_WIRE } save_form;

// What the end of a name asks for: .vyre is text, .vyreb is wire, anything else SAVE_BY_NAME.
save_form save_form_of(const char *path);

// `form` is text or wire; *size becomes the number of bytes written.
vyre_status save_program(const vyre_program *program, const char *path, save_form form,
                         size_t *size, vyre_error *error);

// Any text.
vyre_status save_text(const char *path, const char *text, size_t size, vyre_error *error);

#endif
