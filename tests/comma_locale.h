// SPDX-License-Identifier: MIT
//
// A locale in which numbers have a comma and bytes above 127 are letters, made in a scratch folder:
// machines without a German user have none. The whole process uses it between comma_locale_set and
// comma_locale_reset.
#ifndef VYRE_TESTS_COMMA_LOCALE_H
#define VYRE_TESTS_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// False where none can be made; say so and skip. `folder` (writable) then holds it.
static inline bool comma_locale_set(const char *folder) {
  char command[400], comma[8];
  snprintf(command, sizeof command,
           "localedef -i de_DE -f ISO-8859-1 --no-archive '%s/de_DE' 2>/dev/null", folder);
  bool is_made = system(command) == 0;
  setenv("LOCPATH", folder, 1);
  setenv("LC_ALL", "de_DE", 1);
  if (!is_made || !setlocale(LC_ALL, "")) return false;
  snprintf(comma, sizeof comma, "%.1f", 0.5);
  return !strcmp(comma, "0,5");
}

static inline void comma_locale_reset(void) {
  unsetenv("LC_ALL");
  unsetenv("LOCPATH");
  setlocale(LC_ALL, "C");
}

#endif
