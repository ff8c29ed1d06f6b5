// SPDX-License-Identifier: MIT
//
// A fleet's evidence on a PostgreSQL of the bench's own (scripts/with-postgres): how long 100,000
// rows take to get there, how long it takes to ask for one program among 100,000, and how many
// candidates a new machine of a known kind tries, beside one that knows nothing, until it runs what
// the other found. Status 1 when a bar is missed; 0, with the reason, where there is no server.
#include "bench.h"
#include "policy/variant_name.h"
#include "profile/fleet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAMS = 100000, BATCH = 20000, QUESTIONS = 2000, TEXT = 200 };

static const char *url(const char *role) {
  static char text[300];
  snprintf(text, sizeof text, "postgresql://%s@/postgres?host=%s", role, getenv("PG_SOCKET"));
  return text;
}

// The command of the same build.
static const char *vyre(void) {
  static char path[4200];
  ssize_t size = readlink("/proc/self/exe", path, 4000);
  path[size > 0 ? size : 0] = 0;
  char *slash = strrchr(path, '/');
  if (slash) strcpy(slash, "/vyre");
  return path;
}

static void must(vyre_status status, const vyre_error *error) {
  if (status == VYRE_OK) return;
  fprintf(stderr, "bench_fleet: %s\n", error->message);
  exit(1);
}

static void ignore(void *context, const char *role, const char *password) {
  (void)context, (void)role, (void)password;
}

static void prepare_server(void) {
  const fleet_server *server;
  fleet_connection *c;
  vyre_error error;
  uint32_t format;
  const char *machines[] = {"one", "two"};
  must(fleet_find(&server, &error), &error);
  must(server->open(url("postgres"), NULL, &c, &error), &error);
  must(server->prepare(c, &(fleet_roles){.machines = machines, .machine_count = 2}, ignore, NULL,
                       &format, &error),
       &error);
  server->close(c);
}

// ---- rows ---------------------------------------------------------------------------------------

static void fingerprint_of(uint32_t i, uint8_t out[STORE_FINGERPRINT]) {
  uint64_t x = i + 1;
  for (int n = 0; n < STORE_FINGERPRINT; n++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    out[n] = (uint8_t)(x >> 56);
  }
}

static void fill(store *s) {
  static uint8_t prints[BATCH][STORE_FINGERPRINT];
  static store_latency rows[BATCH];
  static const uint64_t ns[8] = {101, 104, 99, 100, 105, 98, 120, 103};
  vyre_error error;
  for (uint32_t done = 0; done < PROGRAMS; done += BATCH) {
    for (uint32_t i = 0; i < BATCH; i++) {
      fingerprint_of(done + i, prints[i]);
      rows[i] = (store_latency){.device = "cpu-a-processor-llvm-19.1.7",
                                .op = "project.kernel",
                                .fingerprint = prints[i],
                                .size_class = 20,
                                .work = "n:9",
                                .variant = "cpu full release.3fa29c1b as-declared",
                                .build = "vyre 0.1.0, 2 cores",
                                .ns = ns,
                                .count = 8};
    }
    must(store_append(s, &(store_batch){.latencies = rows, .latency_count = BATCH}, &error),
         &error);
  }
}

static bool push_rows(const char *folder) {
  char path[TEXT];
  store *s;
  vyre_error error;
  fleet_session f;
  uint64_t rows;
  snprintf(path, sizeof path, "%s/rows.db", folder);
  must(store_open(&(store_options){.path = path, .max_keys = 2 * PROGRAMS, .max_bytes = 1 << 30},
                  NULL, &s, &error),
       &error);
  fill(s);
  must(fleet_begin(&f, s, url("one"), NULL, &error), &error);
  uint64_t begin = clock_now_ns();
  must(fleet_push(&f, &rows, &error), &error);
  double seconds = (double)(clock_now_ns() - begin) / 1e9;
  fleet_end(&f);
  store_close(s);
  if (rows != PROGRAMS) printf("only %" PRIu64 " rows were sent\n", rows);
  return bench_at_most("100,000 rows pushed", seconds, 4, "s") && rows == PROGRAMS;
}

// ---- questions ----------------------------------------------------------------------------------

static bool count_row(void *context, const fleet_latency *row) {
  (void)row;
  ++*(uint32_t *)context;
  return true;
}

static bool no_wrong(void *context, const fleet_wrong *row) {
  (void)context, (void)row;
  return true;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static bool ask_programs(void) {
  static double us[QUESTIONS];
  const fleet_server *server;
  fleet_connection *c;
  vyre_error error;
  uint32_t found = 0;
  must(fleet_find(&server, &error), &error);
  must(server->open(url("two"), NULL, &c, &error), &error);
  for (uint32_t i = 0; i < QUESTIONS; i++) {
    uint8_t print[STORE_FINGERPRINT];
    int64_t now;
    fingerprint_of((i * 7919u) % PROGRAMS, print);
    fleet_query query = {.store = "00000000000000000000000000000000",
                         .build = "vyre 0.1.0, 2 cores",
                         .fingerprint = print,
                         .limit = 1000};
    uint64_t begin = clock_now_ns();
    must(server->pull(c, &query, count_row, no_wrong, &found, &now, &error), &error);
    us[i] = (double)(clock_now_ns() - begin) / 1e3;
  }
  server->close(c);
  qsort(us, QUESTIONS, sizeof *us, compare);
  printf("one program among 100,000: median %.0f us, one in a hundred above %.0f us\n",
         us[QUESTIONS / 2], us[QUESTIONS * 99 / 100]);
  bool ok = bench_at_most("asking for one program, median", us[QUESTIONS / 2] / 1e3, 0.2, "ms");
  return ok && found == QUESTIONS;
}

// ---- candidates ---------------------------------------------------------------------------------

static FILE *start(const char *home, const char *fleet, const char *words) {
  char command[9000];
  snprintf(command, sizeof command, "VYRE_HOME=%s VYRE_FLEET='%s' %s %s 2>&1", home, fleet, vyre(),
           words);
  return popen(command, "r");
}

// How many candidates were timed, variants and launch shapes, says the store; the first code is
// what everybody begins with.
static uint32_t candidates_of(const char *home, const char *fleet, char runs[TEXT]) {
  char line[600];
  uint32_t count = 0;
  FILE *out = start(home, fleet,
                    "run " VYRE_SOURCE_DIR "/bench/kernels/conv2d.vyre w=512 in=rand:262144 "
                    "k=ones:25 out=zeros:262144 --repeat 30000 --explain");
  while (out && fgets(line, sizeof line, out))
    if (!strncmp(line, "  runs ", 7)) snprintf(runs, TEXT, "%.40s", line + 7);
  if (out) pclose(out);
  out = start(home, "", "profile show");
  while (out && fgets(line, sizeof line, out))
    count += (!strncmp(line, "latency", 7) || !strncmp(line, "tuning", 6)) &&
             !strstr(line, "cpu quick none as-declared") && !strstr(line, "from another machine");
  if (out) pclose(out);
  return count;
}

static bool count_candidates(const char *folder) {
  char home[TEXT], words[400], first[TEXT] = "", second[TEXT] = "";
  snprintf(home, sizeof home, "%s/known", folder);
  uint32_t alone = candidates_of(home, "", first);
  snprintf(words, sizeof words, "profile sync '%s'", url("one"));
  FILE *out = start(home, "", words);
  char line[200];
  while (out && fgets(line, sizeof line, out)) {
    // to its end, or it would end by a broken pipe
  }
  if (!out || pclose(out)) return false;
  snprintf(home, sizeof home, "%s/new", folder);
  uint32_t led = candidates_of(home, url("two"), second);
  printf("alone, %u candidates, then it runs %s\nwith the fleet, %u, then it runs %s\n", alone,
         first, led, second);
  return bench_at_most("candidates of a new machine of a known kind", 100.0 * led / alone, 25, "%");
}

int main(int argc, char **argv) {
  (void)argc;
  if (!getenv("PG_SOCKET")) {
    fflush(stdout);
    execl(VYRE_SOURCE_DIR "/scripts/with-postgres", "with-postgres", argv[0], (char *)NULL);
    perror("bench_fleet: with-postgres");
    return 1;
  }
  char folder[] = "/tmp/bench-fleet-XXXXXX", command[100];
  if (!mkdtemp(folder)) return 1;
  prepare_server();
  bool ok = push_rows(folder);
  ok &= ask_programs();
  ok &= count_candidates(folder);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 && ok ? 0 : 1;
}
