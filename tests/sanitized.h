// SPDX-License-Identifier: MIT
//
// Whether the address or the thread sanitizer is compiled in, with functions of its own in place of
// the C library's: SANITIZED is 1 or 0.
#ifndef VYRE_TESTS_SANITIZED_H
#define VYRE_TESTS_SANITIZED_H

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
