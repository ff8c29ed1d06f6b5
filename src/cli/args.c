// SPDX-License-Identifier: MIT
#include "cli/args.h"

#include "base/ascii.h"
#include "base/decimal.h"
#include "cli/nearest.h"
#include "cli/number.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

args args_begin(const cli *c, const args_option *options, int argc, char **argv) {
  return (args){.cli = c, .options = options, .count = argc, .words = argv};
}

static int take_value(args *a, const args_option *o, char *attached) {
  if (!o->value && attached) return cli_usage(a->cli, "--%s takes no value", o->name), ARGS_ERROR;
  a->value = attached;
  if (o->value && !attached) {
    if (a->next == a->count)
      return cli_usage(a->cli, "--%s wants %s", o->name, o->value), ARGS_ERROR;
    a->value = a->words[a->next++];
  }
  return o->letter;
}

static int unknown_option(const args *a, const char *word) {
  char name[64];
  size_t length = strcspn(word, "=");
  if (length >= sizeof name) length = sizeof name - 1;
  memcpy(name, word, length);
  name[length] = 0;
  nearest n = nearest_begin(name + strspn(name, "-"));
  for (const args_option *o = a->options; o->name; o++) nearest_offer(&n, o->name);
  if (n.best)
    cli_usage(a->cli, "`%s` is no option of `vyre %s`. Fix: did you mean `--%s`?", name,
              a->cli->command->name, n.best);
  else
    cli_usage(a->cli, "`%s` is no option of `vyre %s`", name, a->cli->command->name);
  return ARGS_ERROR;
}

static int long_option(args *a, char *word) {
  char *equals = strchr(word, '=');
  size_t length = equals ? (size_t)(equals - word - 2) : strlen(word + 2);
  if (!strcmp(word, "--json")) return args_next(a); // main has seen it
  for (const args_option *o = a->options; o->name; o++)
    if (strlen(o->name) == length && !strncmp(word + 2, o->name, length))
      return take_value(a, o, equals ? equals + 1 : NULL);
  return unknown_option(a, word);
}

// -DNAME, -UNAME, -IFOLDER, also as two words, and -cl-...
static bool is_build_option(const char *word) {
  return strchr("DUI", word[1]) || !strncmp(word, "-cl-", 4);
}

static int build_option(args *a, char *word) {
  a->value = word;
  a->ends_build = strchr("DUI", word[1]) && !word[2];
  return ARGS_BUILD;
}

int args_next(args *a) {
  if (a->next == a->count) return ARGS_END;
  char *word = a->words[a->next++];
  if (a->ends_build) {
    a->value = word;
    a->ends_build = false;
    return ARGS_BUILD;
  }
  if (!a->only_words && !strcmp(word, "--")) {
    a->only_words = true;
    return args_next(a);
  }
  if (a->only_words || word[0] != '-' || !word[1]) {
    a->value = word;
    return ARGS_WORD;
  }
  if (word[1] == '-') return long_option(a, word);
  if (a->takes_build && is_build_option(word)) return build_option(a, word);
  for (const args_option *o = a->options; o->name; o++)
    if (o->letter == word[1] && ascii_is_lower(o->letter))
      return take_value(a, o, word[2] ? word + 2 : NULL);
  return unknown_option(a, word);
}

bool args_u64(const args *a, const char *option, uint64_t *out) {
  const char *end;
  if (number_read_count(a->value, &end, out) && !*end) return true;
  cli_usage(a->cli, "%s wants a whole number, not `%s`", option, a->value);
  return false;
}

bool args_count(const args *a, const char *option, uint64_t most, uint64_t *out) {
  if (!args_u64(a, option, out)) return false;
  if (*out >= 1 && *out <= most) return true;
  cli_usage(a->cli, "%s wants 1 to %" PRIu64 ", not `%s`", option, most, a->value);
  return false;
}

bool args_seconds(const args *a, const char *option, uint64_t *out_ns) {
  char *end;
  double seconds = decimal_read_f64(a->value, &end);
  if (end != a->value && !*end && seconds > 0 && seconds < 1e9) {
    *out_ns = (uint64_t)(seconds * 1e9);
    if (!*out_ns) *out_ns = 1; // 0 would mean no limit
    return true;
  }
  cli_usage(a->cli, "%s wants seconds above zero, not `%s`", option, a->value);
  return false;
}

bool args_extents(const args *a, const char *option, uint64_t limit, uint64_t rest,
                  uint64_t out[3]) {
  const char *p = a->value;
  for (int k = 0; k < 3; k++) {
    out[k] = rest;
    if (k && !*p) continue;
    if (k && *p++ != ',') goto bad;
    const char *end;
    if (!number_read_count(p, &end, &out[k])) goto bad;
    if (out[k] > limit) {
      cli_usage(a->cli,
                "%s: %llu is above the limit of %llu. Fix: split the work into smaller runs",
                option, (unsigned long long)out[k], (unsigned long long)limit);
      return false;
    }
    p = end;
  }
  if (!*p) return true;
bad:
  cli_usage(a->cli, "%s wants one to three whole numbers such as 640,480, not `%s`", option,
            a->value);
  return false;
}
