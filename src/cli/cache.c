// SPDX-License-Identifier: MIT
#include "backend/cache.h"
#include "cli/args.h"
#include "cli/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const args_option cache_options[] = {{0, NULL, NULL}};

static int show(const cli *c, const char *path) {
  cache_contents found = cache_usage();
  char count[SHOW_TEXT], size[SHOW_TEXT];
  if (c->json)
    return cli_json(json_pack("{s:o, s:I, s:I, s:I, s:b}", "folder", cli_text(path), "entries",
                              (json_int_t)found.entries, "unfinished", (json_int_t)found.unfinished,
                              "bytes", (json_int_t)found.bytes, "on", cache_is_on()));
  printf("%s: %s compiled programs, %s%s\n", path, show_count(found.entries, count),
         show_bytes(found.bytes, size),
         cache_is_on() ? "" : "; not used, because VYRE_CACHE is off");
  if (found.unfinished)
    printf("  with %s unfinished files, of processes that write now or were ended\n",
           show_count(found.unfinished, count));
  return EXIT_FINE;
}

static int clear(const cli *c, const char *path) {
  cache_contents removed = cache_clear();
  char count[SHOW_TEXT], unfinished[SHOW_TEXT];
  if (c->json)
    return cli_json(json_pack("{s:o, s:I, s:I}", "folder", cli_text(path), "removed",
                              (json_int_t)removed.entries, "unfinished",
                              (json_int_t)removed.unfinished));
  printf("%s: removed %s compiled programs", path, show_count(removed.entries, count));
  if (removed.unfinished)
    printf(" and %s unfinished files", show_count(removed.unfinished, unfinished));
  putchar('\n');
  return EXIT_FINE;
}

static int run(cli *c, int argc, char **argv) {
  const char *what = NULL;
  args a = args_begin(c, cache_options, argc, argv);
  for (int letter; (letter = args_next(&a)) != ARGS_END;) {
    if (letter == ARGS_ERROR) return EXIT_USAGE;
    if (what) return cli_usage(c, "`%s` is too many", a.value);
    what = a.value;
  }
  bool is_show = what && !strcmp(what, "show"), is_clear = what && !strcmp(what, "clear");
  if (!is_show && !is_clear)
    return cli_usage(c, "%s%s%s. Fix: run `vyre cache show` or `vyre cache clear`",
                     what ? "`" : "nothing to do is named", what ? what : "",
                     what ? "` is nothing that the cache can do" : "");
  vyre_error error;
  char *path = cache_folder(&error);
  if (!path) return cli_error(c, &error);
  int code = is_show ? show(c, path) : clear(c, path);
  free(path);
  return code;
}

const command cache_command = {
    "cache", "show or clear the compiled programs on disk",
    "usage: vyre cache show | clear [--json]\n"
    "\n"
    "Compiled programs are kept in code/ below the cache directory (VYRE_HOME, XDG_CACHE_HOME or\n"
    "~/.cache/vyre), so that a later process need not compile them again. Entries are checked\n"
    "when they are read, and those not used for longest go first when the folder passes\n"
    "VYRE_CACHE_BYTES (256 MiB). A folder that other users can write is not used.\n"
    "VYRE_CACHE=off turns it off.\n"
    "\n"
    "  show     how many there are, and their size\n"
    "  clear    remove them all, and what processes that were ended left unfinished; what was\n"
    "           learned stays\n"
    "\n"
    "examples:\n"
    "  vyre cache show\n"
    "  vyre cache clear\n",
    run};
