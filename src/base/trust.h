// SPDX-License-Identifier: MIT
//
// Who could have put a file where it is. Code and decisions are taken only from files and folders
// that belong to the user of this process or to root, and that nobody else can write: everywhere
// else somebody could lay down code for others to run. Any thread.
#ifndef VYRE_BASE_TRUST_H
#define VYRE_BASE_TRUST_H

#include <vyre/vyre.h>

#include <sys/stat.h>

// Whether what `info` describes can be changed by nobody but this user and root. `path` is for the
// message.
vyre_status trust_check(const char *path, const struct stat *info, vyre_error *error);

// The same for every folder that leads to the file `path`, from the one that is its first `base`
// characters. What does not exist is fine.
vyre_status trust_folders(const char *path, size_t base, vyre_error *error);

#endif
