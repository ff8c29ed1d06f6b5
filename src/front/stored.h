// SPDX-License-Identifier: MIT
//
// vyre's own two forms of a program as languages: a source is one program. Any thread.
#ifndef VYRE_FRONT_STORED_H
#define VYRE_FRONT_STORED_H

#include "front/front.h"

extern const front_language text_language, wire_language;

#endif
