// SPDX-License-Identifier: MIT
//
// Where vyre keeps its files. VYRE_HOME moves all of them below one folder; otherwise they follow
// the XDG base directories, with HOME as the fallback. Relative values of those of XDG and of HOME
// count as unset, one of VYRE_HOME is an error: nothing is ever looked for in the current folder.
// Folders that others can write are refused (see trust.h). Returned strings are malloc'ed; NULL
// when there is no such place, and `error` says why. Any thread that does not change the
// environment meanwhile.
#ifndef VYRE_BASE_PATHS_H
#define VYRE_BASE_PATHS_H

#include <vyre/vyre.h>

// $VYRE_HOME/config/<name>, $XDG_CONFIG_HOME/vyre/<name>
char *path_config(const char *name, vyre_error *error);
// $VYRE_HOME/cache/<name>, $XDG_CACHE_HOME/vyre/<name>
char *path_cache(const char *name, vyre_error *error);
// $VYRE_HOME/state/<name>, $XDG_STATE_HOME/vyre/<name>
char *path_state(const char *name, vyre_error *error);

#endif
