// SPDX-License-Identifier: MIT
#include "base/paths.h"

#include "base/strbuf.h"

#include <stdlib.h>

static const char *get_set(const char *variable) {
  const char *value = getenv(variable);
  return value && *value ? value : NULL;
}

static char *find(const char *kind, const char *xdg, const char *below_home, const char *name) {
  const char *base;
  strbuf path = {0};
  if ((base = get_set("VYRE_HOME")))
    strbuf_printf(&path, "%s/%s/%s", base, kind, name);
  else if ((base = get_set(xdg)))
    strbuf_printf(&path, "%s/vyre/%s", base, name);
  else if ((base = get_set("HOME")))
    strbuf_printf(&path, "%s/%s/vyre/%s", base, below_home, name);
  else
    strbuf_printf(&path, "./%s/vyre/%s", below_home, name);
  return strbuf_take(&path, NULL);
}

char *path_config(const char *name) {
  return find("config", "XDG_CONFIG_HOME", ".config", name);
}

char *path_cache(const char *name) {
  return find("cache", "XDG_CACHE_HOME", ".cache", name);
}

char *path_state(const char *name) {
  return find("state", "XDG_STATE_HOME", ".local/state", name);
}
