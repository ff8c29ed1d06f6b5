// SPDX-License-Identifier: MIT
//
// golden: runs test files and judges what their commands print. A test is one file below a folder:
// comment lines (after #, // or ;) say why it exists, what to run and what to expect.
//
//   RUN: command         through sh, from the top of the source tree; several run in turn, and what
//                        they print on both streams is one output. %s is the file, %S its folder,
//                        %t a path of its own for temporary files (shown as %t in the output).
//                        Lines of clcompare that follow one another are one request to a
//                        `clcompare --serve` that all tests of a thread share: to load a driver
//                        takes longer than most kernels. It is started anew when it ends.
//   EXPECT-EXIT: n       exit status of the RUN line above it (of the first, if none is); else 0
//   CHECK: text          appears, after what the CHECK above matched
//   CHECK-NEXT: text     appears in the line after that match
//   CHECK-NOT: text      appears nowhere up to the next match, or the end
//   REQUIRES: backend    skipped, with the reason, where `vyre devices BACKEND` fails
//
// Runs of blanks count as one; {{...}} in a CHECK is an extended regular expression. FILE.expect
// beside the test holds the whole output instead; --update writes it. Folders named `inputs` hold
// material, not tests. A test without a reason, a RUN line or an expectation fails.
#include "base/file.h"
#include "base/strbuf.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <regex.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MAX_OUTPUT = 64 << 20, SHOWN_LINES = 25 };

typedef enum directive { RUN, EXPECT_EXIT, CHECK, CHECK_NEXT, CHECK_NOT, REQUIRES, NONE } directive;
static const char *const directive_names[NONE] = {
    [RUN] = "RUN:",
    [EXPECT_EXIT] = "EXPECT-EXIT:",
    [CHECK] = "CHECK:",
    [CHECK_NEXT] = "CHECK-NEXT:",
    [CHECK_NOT] = "CHECK-NOT:",
    [REQUIRES] = "REQUIRES:",
};

typedef struct row { // one directive of a test
  directive kind;
  int line;
  int exit_status; // of a RUN
  char *text;
} row;

typedef enum verdict { PASSED, FAILED, SKIPPED } verdict;

typedef struct test {
  char *path;
  verdict verdict;
  strbuf report; // the line of a failure or a skip, then what explains it
  char *source, *output, *temporary;
  vec(row) rows;
} test;

typedef struct runner {
  vec(test) tests;
  atomic_size_t next;
  vec(const char *) filters; // a path with none of these in it is left out
  bool update;
  long limit_seconds, jobs; // 0: as many as there are cores
  char base[200];           // folder of the temporary files
} runner;

static runner suite; // nftw has no room for a context

__attribute__((format(printf, 3, 4))) static bool fail(test *t, int line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  t->verdict = FAILED;
  strbuf_printf(&t->report, "FAIL %s", t->path);
  if (line) strbuf_printf(&t->report, ":%d", line);
  strbuf_puts(&t->report, ": ");
  strbuf_vprintf(&t->report, format, args);
  strbuf_putc(&t->report, '\n');
  va_end(args);
  return false;
}

static void show_output(test *t, const char *text) {
  int lines = 0;
  for (const char *p = text; p && *p && lines < SHOWN_LINES; lines++) {
    size_t length = strcspn(p, "\n");
    strbuf_printf(&t->report, "  | %.*s\n", (int)(length < 200 ? length : 200), p);
    p += length + (p[length] == '\n');
    if (*p && lines + 1 == SHOWN_LINES) strbuf_puts(&t->report, "  | ...\n");
  }
}

// ---- reading a test
// -------------------------------------------------------------------------------

static char *squeeze_blanks(char *text) { // in place; leading and trailing blanks go too
  char *to = text;
  for (const char *p = text; *p; p++) {
    bool blank = *p == ' ' || *p == '\t' || *p == '\r';
    if (blank && (to == text || to[-1] == ' ')) continue;
    *to++ = blank ? ' ' : *p;
  }
  if (to > text && to[-1] == ' ') to--;
  *to = 0;
  return text;
}

// The text of a comment line, or NULL.
static char *comment_text(char *line) {
  line += strspn(line, " \t");
  size_t leader = *line == '#' || *line == ';' ? strspn(line, "#;") : strspn(line, "/");
  if (!leader || (*line == '/' && leader < 2)) return NULL;
  line += leader;
  return line + strspn(line, " \t");
}

static bool looks_like_directive(const char *text) {
  for (int kind = 0; kind < NONE; kind++)
    if (strstr(text, directive_names[kind])) return true;
  return false;
}

static bool add_row(test *t, directive kind, int line, const char *text) {
  if (kind == EXPECT_EXIT) { // kept as a row until all RUN lines are known
    char *end;
    long status = strtol(text, &end, 10);
    if (end == text || *end || status < 0 || status > 255)
      return fail(t, line, "EXPECT-EXIT wants a status from 0 to 255, not `%s`", text);
    return vec_push(&t->rows, (row){kind, line, (int)status, NULL});
  }
  if (!*text) return fail(t, line, "%s says nothing", directive_names[kind]);
  return vec_push(&t->rows, (row){kind, line, 0, (char *)text});
}

static bool read_line(test *t, int number, char *line, bool *has_reason) {
  char *text = comment_text(line);
  if (text)
    for (int kind = 0; kind < NONE; kind++) {
      size_t length = strlen(directive_names[kind]);
      if (!strncmp(text, directive_names[kind], length)) {
        text = kind == RUN ? text + length : squeeze_blanks(text + length);
        return add_row(t, (directive)kind, number, text + strspn(text, " \t"));
      }
    }
  if (looks_like_directive(line))
    return fail(t, number, "a directive starts its own comment line: write `# RUN: ...`");
  if (text && strncmp(text, "SPDX-", 5) != 0 && strlen(text) >= 12 && strchr(text, ' '))
    *has_reason = true;
  return true;
}

static void give_exits_to_runs(test *t) {
  row *last = NULL;
  for (size_t i = 0; i < t->rows.count; i++) {
    row *r = &t->rows.at[i];
    if (r->kind == RUN) last = r;
    if (r->kind != EXPECT_EXIT) continue;
    for (size_t j = i; !last && j < t->rows.count; j++)
      if (t->rows.at[j].kind == RUN) last = &t->rows.at[j];
    if (last) last->exit_status = r->exit_status;
  }
}

static size_t count_rows(const test *t, directive kind) {
  size_t count = 0;
  for (size_t i = 0; i < t->rows.count; i++) count += t->rows.at[i].kind == kind;
  return count;
}

static bool read_test(test *t, bool has_sidecar) {
  vyre_error error;
  size_t size;
  if (file_read(t->path, MAX_OUTPUT, &t->source, &size, &error) != VYRE_OK)
    return fail(t, 0, "%s", error.message);
  for (size_t i = 0; i < size; i++)
    if (!t->source[i]) t->source[i] = '?';
  bool has_reason = false;
  int number = 1;
  for (char *line = t->source, *end; line; line = end, number++) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    if (!read_line(t, number, line, &has_reason)) return false;
  }
  give_exits_to_runs(t);
  if (!count_rows(t, RUN)) return fail(t, 0, "has no RUN line");
  if (!has_reason) return fail(t, 0, "has no comment that says why the test exists");
  size_t checks = count_rows(t, CHECK) + count_rows(t, CHECK_NEXT);
  if (!checks && !has_sidecar && !suite.update)
    return fail(t, 0, "asserts nothing: it needs a CHECK or a .expect file");
  return true;
}

// ---- running commands
// -----------------------------------------------------------------------------

static char *substitute(const test *t, const char *command) {
  strbuf out = {0};
  const char *slash = strrchr(t->path, '/');
  for (const char *p = command; *p; p++) {
    if (p[0] == '%' && p[1] == 's')
      strbuf_puts(&out, t->path), p++;
    else if (p[0] == '%' && p[1] == 'S')
      strbuf_add(&out, t->path, (size_t)(slash - t->path)), p++;
    else if (p[0] == '%' && p[1] == 't')
      strbuf_printf(&out, "%s/t", t->temporary), p++;
    else if (p[0] == '%' && p[1] == '%')
      strbuf_putc(&out, '%'), p++;
    else
      strbuf_putc(&out, *p);
  }
  return strbuf_take(&out, NULL);
}

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Whether the output ends with the line of a served request: \004, then its status.
static bool is_answered(const strbuf *out, size_t from, int *status) {
  if (out->size < from + 3 || out->at[out->size - 1] != '\n') return false;
  size_t at = out->size - 1;
  while (at > from && out->at[at - 1] >= '0' && out->at[at - 1] <= '9') at--;
  if (at == out->size - 1 || at == from || out->at[at - 1] != 4) return false;
  *status = atoi(out->at + at);
  return true;
}

// Reads until the end, the limit, or too much; false in the last two cases. With `status` until the
// answer of a server besides, which is taken off; *status stays -1 where it ended without one.
static bool drain(int fd, strbuf *out, double deadline, int *status) {
  size_t from = out->size;
  for (;;) {
    if (status && is_answered(out, from, status)) {
      while (out->at[--out->size] != 4) {
      }
      return true;
    }
    double left = deadline - now_seconds();
    struct pollfd wait_for = {.fd = fd, .events = POLLIN};
    if (left <= 0 || out->size > MAX_OUTPUT) return false;
    int ready = poll(&wait_for, 1, (int)(left * 1000) + 1);
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    char *to = strbuf_reserve(out, 1 << 16);
    ssize_t got = to ? read(fd, to, 1 << 16) : -1;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    out->size += (size_t)got;
  }
}

// Starts argv in a process group of its own, with what it prints going to `to`, and returns why it
// could not. Its input is `from`, or nothing where that is -1.
static int start(pid_t *child, char **argv, int from, int to) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  if (from < 0)
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  else
    posix_spawn_file_actions_adddup2(&actions, from, 0);
  posix_spawn_file_actions_adddup2(&actions, to, 1);
  posix_spawn_file_actions_adddup2(&actions, to, 2);
  posix_spawnattr_init(&attributes);
  sigset_t usual; // what is ignored here is not there
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  int reason = posix_spawnp(child, argv[0], &actions, &attributes, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return reason;
}

// How a child ended: its exit status, or 128 + signal when it was killed.
static int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Runs `command` through sh. Returns its exit status, 128 + signal when it was killed, -1 when it
// ran into the limit and -2 when it could not be started.
static int run_command(const char *command, strbuf *out) {
  int ends[2];
  pid_t child;
  if (pipe2(ends, O_CLOEXEC) < 0) return -2;
  char *argv[] = {"/bin/sh", "-c", (char *)command, NULL};
  int reason = start(&child, argv, -1, ends[1]);
  close(ends[1]);
  bool in_time = !reason && drain(ends[0], out, now_seconds() + (double)suite.limit_seconds, NULL);
  close(ends[0]);
  if (reason) return -2;
  if (!in_time) kill(-child, SIGKILL);
  int status = status_of(child);
  return in_time ? status : -1;
}

typedef struct server { // a clcompare that compares for one test after the other
  pid_t child;
  int to, from;
} server;

static bool begin_server(server *s) {
  int to[2], from[2];
  if (s->child) return true;
  if (pipe2(to, O_CLOEXEC) < 0) return false;
  if (pipe2(from, O_CLOEXEC) < 0) return close(to[0]), close(to[1]), false;
  char *argv[] = {"clcompare", "--serve", NULL};
  bool ok = !start(&s->child, argv, to[0], from[1]);
  close(to[0]), close(from[1]);
  if (ok) return s->to = to[1], s->from = from[0], true;
  close(to[1]), close(from[0]);
  s->child = 0;
  return false;
}

// How it ended, 0 where there was none.
static int end_server(server *s) {
  if (!s->child) return 0;
  close(s->to), close(s->from);
  pid_t child = s->child;
  s->child = 0;
  return status_of(child);
}

// As run_command, through the server. One that ends instead of answering has its own status.
static int ask_server(server *s, const char *command, strbuf *out) {
  if (!begin_server(s)) return -2;
  strbuf line = {0};
  strbuf_printf(&line, "%s\n", command);
  bool sent = line.at && write(s->to, line.at, line.size) == (ssize_t)line.size;
  strbuf_fini(&line);
  int status = -1;
  double deadline = now_seconds() + (double)suite.limit_seconds;
  bool in_time = sent && drain(s->from, out, deadline, &status);
  if (in_time && status >= 0) return status;
  if (!in_time) kill(-s->child, SIGKILL);
  status = end_server(s);
  return in_time ? status : -1;
}

// The test's own temporary path is shown as %t, and a NUL as '?'.
static char *normalise(const test *t, strbuf *raw) {
  strbuf out = {0};
  strbuf name = {0};
  strbuf_printf(&name, "%s/t", t->temporary);
  for (size_t i = 0; i < raw->size;) {
    if (raw->size - i >= name.size && !memcmp(raw->at + i, name.at, name.size)) {
      strbuf_puts(&out, "%t");
      i += name.size;
    } else {
      strbuf_putc(&out, raw->at[i] ? raw->at[i] : '?');
      i++;
    }
  }
  strbuf_fini(&name);
  strbuf_fini(raw);
  return strbuf_take(&out, NULL);
}

static bool is_comparison(const row *r) {
  return r->kind == RUN && !r->exit_status && !strncmp(r->text, "clcompare ", 10) &&
         !strpbrk(r->text, "|&;<>()`");
}

// The command of a RUN line, and of those behind it that go with it: *i becomes the last one.
static char *command_at(const test *t, size_t *i) {
  strbuf text = {0};
  strbuf_puts(&text, t->rows.at[*i].text);
  bool goes_on = is_comparison(&t->rows.at[*i]);
  for (size_t k = *i + 1; goes_on && k < t->rows.count; k++) {
    const row *next = &t->rows.at[k];
    if (next->kind != RUN) continue;
    goes_on = is_comparison(next);
    if (!goes_on) break;
    strbuf_printf(&text, " -- %s", next->text + strlen("clcompare "));
    *i = k;
  }
  char *joined = strbuf_take(&text, NULL), *command = joined ? substitute(t, joined) : NULL;
  free(joined);
  return command;
}

static bool run_commands(test *t, server *s) {
  strbuf raw = {0};
  for (size_t i = 0; i < t->rows.count; i++) {
    const row *r = &t->rows.at[i];
    if (r->kind != RUN) continue;
    bool is_served = is_comparison(r);
    char *command = command_at(t, &i);
    int status = !command    ? -2
                 : is_served ? ask_server(s, command, &raw)
                             : run_command(command, &raw);
    free(command);
    if (status == r->exit_status) continue;
    if (status == -1)
      fail(t, r->line, "took longer than %ld seconds, or printed too much", suite.limit_seconds);
    else
      fail(t, r->line, "exit status %d, expected %d", status, r->exit_status);
    t->output = normalise(t, &raw);
    show_output(t, t->output);
    return false;
  }
  t->output = normalise(t, &raw);
  return t->output || fail(t, 0, "out of memory");
}

// ---- judging
// --------------------------------------------------------------------------------------

// The check as one regular expression: all outside {{...}} stands for itself.
static bool compile_check(test *t, const row *r, regex_t *out) {
  strbuf pattern = {0};
  const char *p = r->text;
  while (*p) {
    const char *close = strncmp(p, "{{", 2) ? NULL : strstr(p + 2, "}}");
    while (close && close[2] == '}') close++; // {{a{3}}} ends with the last two
    if (close) {
      strbuf_printf(&pattern, "(%.*s)", (int)(close - p - 2), p + 2);
      p = close + 2;
      continue;
    }
    if (strchr("\\^$.[]|()*+?{}", *p)) strbuf_putc(&pattern, '\\');
    strbuf_putc(&pattern, *p++);
  }
  char *text = strbuf_take(&pattern, NULL);
  int bad = text ? regcomp(out, text, REG_EXTENDED) : 1;
  free(text);
  return !bad || fail(t, r->line, "is no regular expression: %s", r->text);
}

typedef struct place { // in the output: a line, and where in it to go on
  size_t line, column;
} place;

typedef vec(char *) line_list;

// First match at or after *at and before line `end`; moves *at behind it.
static bool find(const line_list *lines, const regex_t *pattern, place *at, size_t end,
                 place *start) {
  for (place p = *at; p.line < end; p = (place){p.line + 1, 0}) {
    regmatch_t m;
    if (regexec(pattern, lines->at[p.line] + p.column, 1, &m, p.column ? REG_NOTBOL : 0)) continue;
    *start = (place){p.line, p.column + (size_t)m.rm_so};
    *at = (place){p.line, p.column + (size_t)m.rm_eo};
    return true;
  }
  return false;
}

static bool is_before(place a, place b) {
  return a.line < b.line || (a.line == b.line && a.column < b.column);
}

// The CHECK-NOT rows first..last must not match between two places.
static bool judge_nots(test *t, const line_list *lines, size_t first, size_t last, place from,
                       place to) {
  for (size_t i = first; i < last; i++) {
    if (t->rows.at[i].kind != CHECK_NOT) continue;
    regex_t pattern;
    if (!compile_check(t, &t->rows.at[i], &pattern)) return false;
    place at = from, start;
    bool hit = find(lines, &pattern, &at, lines->count, &start) && is_before(start, to);
    regfree(&pattern);
    if (hit) return fail(t, t->rows.at[i].line, "forbidden text: %s", t->rows.at[i].text);
  }
  return true;
}

static bool judge_lines(test *t, const line_list *lines) {
  place at = {0, 0};
  bool any = false;
  size_t first_not = 0;
  for (size_t i = 0; i < t->rows.count; i++) {
    const row *r = &t->rows.at[i];
    if (r->kind != CHECK && r->kind != CHECK_NEXT) continue;
    regex_t pattern;
    if (!compile_check(t, r, &pattern)) return false;
    place from = at, start;
    if (r->kind == CHECK_NEXT && any) at = (place){at.line + 1, 0};
    size_t end = r->kind == CHECK_NEXT ? at.line + 1 : lines->count;
    bool hit = find(lines, &pattern, &at, end < lines->count ? end : lines->count, &start);
    regfree(&pattern);
    if (!hit)
      return fail(t, r->line, "not %s: %s",
                  r->kind == CHECK_NEXT ? "in the next line of the output" : "in the output",
                  r->text);
    if (!judge_nots(t, lines, first_not, i, from, start)) return false;
    first_not = i + 1;
    any = true;
  }
  return judge_nots(t, lines, first_not, t->rows.count, at, (place){lines->count, 0});
}

static bool judge_checks(test *t) {
  char *copy = strdup(t->output);
  if (!copy) return fail(t, 0, "out of memory");
  line_list lines = {0};
  for (char *line = copy, *end; line && *line; line = end) {
    end = strchr(line, '\n');
    if (end) *end++ = 0;
    if (!vec_push(&lines, squeeze_blanks(line))) break;
  }
  bool ok = judge_lines(t, &lines);
  if (!ok) show_output(t, t->output);
  vec_free(&lines);
  free(copy);
  return ok;
}

static void report_difference(test *t, const char *want, const char *got) {
  for (int line = 1;; line++) {
    size_t wanted = strcspn(want, "\n"), given = strcspn(got, "\n");
    bool same = wanted == given && !memcmp(want, got, wanted) && want[wanted] == got[given];
    if (same && want[wanted]) {
      want += wanted + 1, got += given + 1;
      continue;
    }
    fail(t, 0, "output differs from its .expect file in line %d", line);
    strbuf_printf(&t->report, "  want %.*s\n  got  %.*s\n", (int)wanted, want, (int)given, got);
    return;
  }
}

static bool judge_sidecar(test *t, const char *path) {
  vyre_error error;
  char *want;
  size_t size;
  if (file_read(path, MAX_OUTPUT, &want, &size, &error) != VYRE_OK)
    return fail(t, 0, "%s", error.message);
  bool same = size == strlen(t->output) && !memcmp(want, t->output, size);
  if (!same) report_difference(t, want, t->output);
  free(want);
  return same;
}

// Features are backends: usable when `vyre devices NAME` succeeds. Each is asked for once.
static bool has_feature(const char *name, char *reason, size_t reason_size) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct {
    char name[32], reason[200];
    bool has;
  } known[16];
  static size_t count;
  pthread_mutex_lock(&lock);
  size_t i = 0;
  while (i < count && strcmp(known[i].name, name)) i++;
  if (i == count && count < 16) {
    count++;
    strbuf command = {0}, out = {0};
    strbuf_printf(&command, "vyre devices %s", name);
    known[i].has = run_command(command.at, &out) == 0;
    snprintf(known[i].name, sizeof known[i].name, "%s", name);
    char *said = strbuf_take(&out, NULL);
    snprintf(known[i].reason, sizeof known[i].reason, "%.*s", said ? (int)strcspn(said, "\n") : 0,
             said ? said : "");
    free(said);
    strbuf_fini(&command);
  }
  bool has = i < 16 && known[i].has;
  snprintf(reason, reason_size, "%s", i < 16 ? known[i].reason : "too many features");
  pthread_mutex_unlock(&lock);
  return has;
}

static bool is_skipped(test *t) {
  char reason[200];
  for (size_t i = 0; i < t->rows.count; i++) {
    const row *r = &t->rows.at[i];
    if (r->kind != REQUIRES || has_feature(r->text, reason, sizeof reason)) continue;
    t->verdict = SKIPPED;
    strbuf_printf(&t->report, "SKIP %s: needs %s: %s\n", t->path, r->text, reason);
    return true;
  }
  return false;
}

static void judge(test *t, size_t index, server *s) {
  strbuf sidecar = {0}, temporary = {0};
  strbuf_printf(&sidecar, "%s.expect", t->path);
  strbuf_printf(&temporary, "%s/%zu", suite.base, index);
  t->temporary = temporary.at;
  bool has_sidecar = access(sidecar.at, F_OK) == 0;
  if (t->verdict == FAILED) goto done; // an orphan, reported when it was found
  if (!read_test(t, has_sidecar) || is_skipped(t)) goto done;
  if (mkdir(t->temporary, 0700) < 0) {
    fail(t, 0, "cannot make %s: %s", t->temporary, strerror(errno));
    goto done;
  }
  if (!run_commands(t, s)) goto done;
  bool checks = count_rows(t, CHECK) + count_rows(t, CHECK_NEXT) > 0;
  if (suite.update && (has_sidecar || !checks)) {
    vyre_error error;
    if (file_replace(sidecar.at, t->output, strlen(t->output), &error) != VYRE_OK)
      fail(t, 0, "%s", error.message);
  } else if (has_sidecar && !judge_sidecar(t, sidecar.at)) {
    goto done;
  }
  judge_checks(t);
done:
  strbuf_fini(&sidecar);
  free(t->temporary);
  free(t->source);
  free(t->output);
  vec_free(&t->rows);
}

static void *work(void *unused) {
  (void)unused;
  server s = {0};
  test *last = NULL;
  for (size_t i; (i = atomic_fetch_add(&suite.next, 1)) < suite.tests.count;)
    judge(last = &suite.tests.at[i], i, &s);
  int status = end_server(&s); // a sanitizer says at the end what it found
  if (status) fail(last, 0, "the comparisons ended with exit status %d", status);
  return NULL;
}

// ---- the suite
// ------------------------------------------------------------------------------------

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && !strcmp(text + length - tail, end);
}

static int collect(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info;
  if (kind == FTW_DNR || kind == FTW_NS) return 1;
  if (kind != FTW_F || path[where->base] == '.' || strstr(path, "/inputs/")) return 0;
  bool wanted = !suite.filters.count;
  for (size_t i = 0; i < suite.filters.count; i++)
    wanted |= strstr(path, suite.filters.at[i]) != NULL;
  if (!wanted) return 0;
  test t = {.path = strdup(path)};
  if (ends_with(path, ".expect")) { // belongs to its test; alone it would never be looked at
    t.path[strlen(path) - strlen(".expect")] = 0;
    bool orphan = access(t.path, F_OK) != 0;
    if (orphan)
      fail(&t, 0, "there is a .expect file and no test");
    else
      free(t.path);
    if (!orphan) return 0;
  }
  return vec_push(&suite.tests, t) ? 0 : 1;
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const test *)a)->path, ((const test *)b)->path);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where) {
  (void)info, (void)kind, (void)where;
  return remove(path);
}

static void run_all(void) {
  long cores = suite.jobs ? suite.jobs : sysconf(_SC_NPROCESSORS_ONLN);
  pthread_t threads[64];
  int started = 0;
  while (started < cores - 1 && started < 64 &&
         !pthread_create(&threads[started], NULL, work, NULL))
    started++;
  work(NULL);
  while (started) pthread_join(threads[--started], NULL);
}

static int report_all(void) {
  size_t counts[3] = {0};
  for (size_t i = 0; i < suite.tests.count; i++) {
    test *t = &suite.tests.at[i];
    counts[t->verdict]++;
    if (t->report.size) fwrite(t->report.at, 1, t->report.size, stdout);
    strbuf_fini(&t->report);
    free(t->path);
  }
  vec_free(&suite.tests);
  vec_free(&suite.filters);
  printf("golden: %zu passed, %zu failed, %zu skipped\n", counts[PASSED], counts[FAILED],
         counts[SKIPPED]);
  return counts[FAILED] ? 1 : 0;
}

static int usage(void) {
  fputs("usage: golden [--build DIR] [--filter TEXT]... [--seconds N] [--jobs N] [--update] "
        "PATH...\n",
        stderr);
  return 2;
}

int main(int argc, char **argv) {
  suite.limit_seconds = 120;
  signal(SIGPIPE, SIG_IGN); // of a server that ended
  int first = 1;
  for (; first < argc && argv[first][0] == '-'; first++) {
    const char *option = argv[first];
    if (!strcmp(option, "--update")) {
      suite.update = true;
      continue;
    }
    const char *value = first + 1 < argc ? argv[++first] : NULL;
    if (!value) return usage();
    if (!strcmp(option, "--filter")) {
      if (!vec_push(&suite.filters, value)) return 2;
    } else if (!strcmp(option, "--seconds"))
      suite.limit_seconds = atol(value);
    else if (!strcmp(option, "--jobs"))
      suite.jobs = atol(value);
    else if (!strcmp(option, "--build")) {
      strbuf path = {0};
      strbuf_printf(&path, "%s:%s", value, getenv("PATH"));
      setenv("PATH", path.at, 1);
      strbuf_fini(&path);
    } else
      return usage();
  }
  if (first == argc) return usage();
  const char *where = getenv("TMPDIR");
  snprintf(suite.base, sizeof suite.base, "%s/golden-XXXXXX", where ? where : "/tmp");
  if (!mkdtemp(suite.base)) return perror(suite.base), 2;
  int status = 2;
  for (int i = first; i < argc; i++)
    if (nftw(argv[i], collect, 16, FTW_PHYS)) {
      fprintf(stderr, "golden: cannot read %s\n", argv[i]);
      goto done;
    }
  if (suite.tests.count) qsort(suite.tests.at, suite.tests.count, sizeof *suite.tests.at, by_path);
  run_all();
  status = report_all();
done:
  nftw(suite.base, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  return status;
}
