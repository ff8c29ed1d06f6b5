// SPDX-License-Identifier: MIT
//
// Where vyre keeps its files. VYRE_HOME moves all of them below one folder; otherwise they follow
// the XDG base directories, with HOME and then the current folder as fallbacks. Returned strings
// are malloc'ed, NULL when out of memory. Any thread that does not change the environment
// meanwhile.
#ifndef VYRE_BASE_PATHS_H
#define VYRE_BASE_PATHS_H

char *path_config(const char *name); // $VYRE_HOME/config/<name>, $XDG_CONFIG_HOME/vyre/<name>
char *path_cache(const char *name);  // $VYRE_HOME/cache/<name>, $XDG_CACHE_HOME/vyre/<name>
char *path_state(const char *name);  // $VYRE_HOME/state/<name>, $XDG_STATE_HOME/vyre/<name>

#endif
