// SPDX-License-Identifier: MIT
#include "base/paths.h"

#include "base/environment.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/trust.h"

#include <stdlib.h>

typedef struct kind {
  const char *name, *xdg, *below_home;
} kind;

// The folder that is the first to be vyre's own. Its length counts what must be trusted.
static vyre_status find_base(const kind *k, strbuf *path, vyre_error *error) {
  const char *base;
  if ((base = environment_get("VYRE_HOME"))) {
    if (*base != '/')
      return error_set(
          error, VYRE_ERROR_IO,
          "VYRE_HOME is `%.200s`, which means another folder wherever vyre is started. "
          "Fix: set it to an absolute path",
          base);
    strbuf_puts(path, base);
  } else if ((base = environment_get_absolute(k->xdg))) {
    strbuf_printf(path, "%s/vyre", base);
  } else if ((base = environment_get_absolute("HOME"))) {
    strbuf_printf(path, "%s/%s/vyre", base, k->below_home);
  } else {
    return error_set(error, VYRE_ERROR_IO,
                     "there is no folder for vyre's files: neither VYRE_HOME, nor XDG's variables, "
                     "nor HOME name one. Fix: set HOME, or VYRE_HOME, to an absolute path");
  }
  return VYRE_OK;
}

static char *find(const kind *k, const char *name, vyre_error *error) {
  strbuf text = {0};
  if (find_base(k, &text, error) != VYRE_OK) return NULL;
  size_t base = text.size;
  if (environment_get("VYRE_HOME")) strbuf_printf(&text, "/%s", k->name);
  strbuf_printf(&text, "/%s", name);
  char *path = strbuf_take(&text, NULL);
  if (!path) {
    error_out_of_memory(error);
  } else if (trust_folders(path, base, error) != VYRE_OK) {
    free(path);
    path = NULL;
  }
  return path;
}

char *path_config(const char *name, vyre_error *error) {
  return find(&(kind){"config", "XDG_CONFIG_HOME", ".config"}, name, error);
}

char *path_cache(const char *name, vyre_error *error) {
  return find(&(kind){"cache", "XDG_CACHE_HOME", ".cache"}, name, error);
}

char *path_state(const char *name, vyre_error *error) {
  return find(&(kind){"state", "XDG_STATE_HOME", ".local/state"}, name, error);
}
