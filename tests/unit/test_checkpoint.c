// SPDX-License-Identifier: MIT
//
// Checkpoints: what some ranks saved, any number of ranks go on from with the same bits; and what
// is missing, cut off, changed or made up is refused, with all buffers as they were.
#include "../parsed_program.h"
#include "../child_process.h"
#include "../thread_transport.h"

#include "base/hash.h"
#include "base/strbuf.h"
#include "runtime/clustered.h"

#include <dirent.h>
#include <sys/resource.h>

enum { MOST_RANKS = 8, COUNT = 264, ODD = 37, BUFFERS = 4 };
static const size_t sizes[BUFFERS] = {COUNT * 4, COUNT * 4, ODD, 0};
static const char *const names[BUFFERS] = {"a", "b", "odd \"\xc3\xa4\"", "none"};

typedef struct memory {
  uint32_t a[COUNT], b[COUNT];
  uint8_t odd[ODD];
} memory;

typedef struct job { // what ranks do
  hub h;
  const char *load, *save, *label;
  uint32_t first, end, ranks; // dispatches; 0: a runtime of one process
  vyre_program *program;
  uint32_t buffer_count; // 0: all
  bool saves_twice;
} job;

typedef struct rank {
  job *j;
  uint32_t number;
  memory found;
  uint64_t step;
  vyre_status loaded, saved, status;
  vyre_error error, load_error, save_error;
  pthread_t thread;
} rank;

static const char stencil[] = "program s()\nbuffer a: u32[264] read\nbuffer b: u32[264] readwrite\n"
                              "region r grid(8, 33) {\n  let i = global_id.y * 8 + global_id.x\n"
                              "  b[i] = a[i] * 3 + a[i - 8] + a[i + 8] + a[i - 1] + a[i + 1]\n}\n";

static vyre_runtime *begin(rank *r) {
  vyre_runtime *rt = NULL;
  vyre_runtime_options options = {
      .backend = "ref", .no_learning = true, .no_store = true, .notice = take_notice};
  cluster_options how = {.split_least = 1};
  hub_mine = (hub_rank){.h = &r->j->h, .rank = r->number};
  r->status = r->j->ranks ? clustered_runtime_new(&hub_transport, 0, &options, &how, &rt, &r->error)
                          : vyre_runtime_new(&options, &rt, &r->error);
  return rt;
}

static void fill(memory *m) {
  for (uint32_t i = 0; i < COUNT; i++) m->a[i] = i * 2654435761u, m->b[i] = i;
  for (int i = 0; i < ODD; i++) m->odd[i] = (uint8_t)(i * 7);
}

static void work(rank *r, vyre_runtime *rt, vyre_checkpoint_buffer *all) {
  const job *j = r->j;
  vyre_kernel *k = NULL;
  uint32_t count = j->buffer_count ? j->buffer_count : BUFFERS;
  r->status = vyre_runtime_load(rt, j->program, &k, &r->error);
  if (j->load)
    r->loaded = vyre_checkpoint_load(rt, j->load, j->label, &r->step, all, count, &r->load_error);
  for (uint32_t n = j->first; n < j->end && r->status == VYRE_OK; n++) {
    vyre_buffer *handles[] = {all[n % 2].buffer, all[1 - n % 2].buffer};
    vyre_dispatch_args args = {.handles = handles, .buffer_count = 2, .threads = 1};
    r->status = vyre_kernel_dispatch(k, &args, NULL, &r->error);
  }
  for (int turn = 0; turn < 1 + j->saves_twice && j->save; turn++)
    r->saved = vyre_checkpoint_save(rt, j->save, j->label, j->end, all, count, &r->save_error);
}

static void *rank_main(void *context) {
  rank *r = context;
  vyre_checkpoint_buffer all[BUFFERS];
  memory *m = &r->found, first = {0};
  void *to[BUFFERS] = {m->a, m->b, m->odd, NULL};
  const void *from[BUFFERS] = {first.a, first.b, first.odd, NULL};
  vyre_runtime *rt = begin(r);
  fill(&first);
  for (int i = 0; i < BUFFERS && r->status == VYRE_OK; i++) {
    all[i].name = names[i];
    r->status = vyre_buffer_new(rt, sizes[i], &all[i].buffer, &r->error);
    if (r->status == VYRE_OK)
      r->status = vyre_buffer_write(all[i].buffer, 0, from[i], r->number ? 0 : sizes[i], &r->error);
  }
  if (r->status == VYRE_OK) work(r, rt, all);
  for (int i = 0; i < BUFFERS && r->status == VYRE_OK; i++)
    r->status = vyre_buffer_read(all[i].buffer, 0, to[i], sizes[i], &r->error);
  vyre_runtime_free(rt);
  return NULL;
}

// Runs it; ranks[0] has what was found.
static void run(job *j, rank *ranks) {
  uint32_t count = j->ranks ? j->ranks : 1;
  j->program = parse(stencil);
  hub_init(&j->h, count);
  for (uint32_t n = 0; n < count; n++) {
    ranks[n] = (rank){.j = j, .number = n};
    assert_int_equal(pthread_create(&ranks[n].thread, NULL, rank_main, &ranks[n]), 0);
  }
  for (uint32_t n = 0; n < count; n++) pthread_join(ranks[n].thread, NULL);
  hub_fini(&j->h);
  for (uint32_t n = 0; n < count; n++)
    if (ranks[n].status != VYRE_OK) fail_msg("rank %u: %s", n, ranks[n].error.message);
  vyre_program_release(j->program);
}

// One after the other: of ranks, some go on from what others saved.
static void others_go_on(uint32_t before, uint32_t after) {
  static rank whole[1], ranks[MOST_RANKS];
  char *folder = scratch_path("some/where");
  run(&(job){.end = 9}, whole);
  run(&(job){.ranks = before, .end = 4, .save = folder, .label = "x"}, ranks);
  for (uint32_t n = 0; n < (before ? before : 1); n++)
    if (ranks[n].saved != VYRE_OK) fail_msg("%s", ranks[n].save_error.message);
  run(&(job){.ranks = after, .first = 4, .end = 9, .load = folder, .label = "x"}, ranks);
  for (uint32_t n = 0; n < (after ? after : 1); n++) {
    if (ranks[n].loaded != VYRE_OK) fail_msg("%s", ranks[n].load_error.message);
    assert_int_equal(ranks[n].step, 4);
    if (memcmp(&ranks[n].found, &whole->found, sizeof whole->found))
      fail_msg("%u ranks saved, %u went on: other bits", before, after);
  }
}

static void any_ranks_go_on_with_the_same_bits(void **state) {
  (void)state;
  for (uint32_t before = 0; before <= MOST_RANKS; before += before > 2 ? 2 : 1)
    for (uint32_t after = 0; after <= MOST_RANKS; after += after > 2 ? 3 : 1)
      others_go_on(before, after);
}

static unsigned files_in(const char *folder, char *one_part, size_t size) {
  unsigned count = 0;
  DIR *d = opendir(folder);
  for (struct dirent *e; d && (e = readdir(d));) {
    count += *e->d_name != '.';
    if (!strncmp(e->d_name, "part-", 5)) snprintf(one_part, size, "%s/%s", folder, e->d_name);
  }
  if (d) closedir(d);
  return count;
}

static void older_parts_are_removed(void **state) {
  (void)state;
  static rank ranks[MOST_RANKS];
  char *folder = scratch_path("again"), part[600];
  run(&(job){.ranks = 5, .end = 2, .save = folder}, ranks);
  assert_int_equal(files_in(folder, part, sizeof part), 6);
  scratch_write(scratch_path("again/part-3-0123456789abcdef.5a5a5a"),
                "of a writer that was killed");
  scratch_write(scratch_path("again/part-mine"), "nobody's");
  run(&(job){.ranks = 3, .end = 3, .save = folder, .saves_twice = true}, ranks);
  assert_int_equal(ranks->saved, VYRE_OK);
  assert_int_equal(files_in(folder, part, sizeof part), 5);
  run(&(job){.ranks = 2, .first = 3, .end = 3, .load = folder}, ranks);
  assert_int_equal(ranks->loaded, VYRE_OK);
}

// ---- what is refused ----------------------------------------------------------------------------

static void expect_refused(job j, const char *why) {
  static rank ranks[MOST_RANKS], untouched[1];
  run(&(job){0}, untouched);
  for (j.ranks = 0; j.ranks < 4; j.ranks += 3) {
    run(&j, ranks);
    bool is_said = false;
    for (uint32_t n = 0; n < (j.ranks ? j.ranks : 1); n++) {
      assert_int_not_equal(ranks[n].loaded, VYRE_OK);
      assert_non_null(strstr(ranks[n].load_error.message, "Fix:"));
      is_said |= strstr(ranks[n].load_error.message, why) != NULL;
      assert_memory_equal(&ranks[n].found, &untouched->found, sizeof untouched->found);
    }
    if (!is_said) fail_msg("`%s` is not in: %s", why, ranks[0].load_error.message);
  }
}

static char *saved(void) {
  static rank ranks[MOST_RANKS];
  static char folder[512];
  snprintf(folder, sizeof folder, "%s", scratch_path("damaged"));
  run(&(job){.ranks = 3, .end = 2, .save = folder, .label = "mine"}, ranks);
  assert_int_equal(ranks->saved, VYRE_OK);
  return folder;
}

static void other_programs_and_buffers_are_refused(void **state) {
  (void)state;
  char *folder = saved();
  expect_refused((job){.load = folder, .label = "yours"}, "belongs to something else");
  expect_refused((job){.load = folder, .label = "mine", .buffer_count = 2}, "other buffers");
  expect_refused((job){.load = scratch_path("nowhere"), .label = "mine"}, "checkpoint.toml");
  expect_refused((job){.load = "", .label = "mine"}, "no folder is named");
}

static void damaged_parts_are_refused(void **state) {
  (void)state;
  char part[600], *folder = saved();
  files_in(folder, part, sizeof part);
  FILE *f = fopen(part, "r+");
  assert_non_null(f);
  int c = fgetc(f);
  rewind(f);
  fputc(c ^ 4, f);
  fclose(f);
  expect_refused((job){.load = folder, .label = "mine"}, "is not as it was written");
  assert_int_equal(truncate(part, 100), 0);
  expect_refused((job){.load = folder, .label = "mine"}, "has 100 bytes, and had");
  unlink(part);
  expect_refused((job){.load = folder, .label = "mine"}, "part-");
  assert_int_equal(mkfifo(part, 0600), 0); // nobody waits for its other end
  expect_refused((job){.load = folder, .label = "mine"}, "a pipe");
}

static char *manifest_path(void) {
  return scratch_path("damaged/checkpoint.toml");
}

// Every way to cut it off, and every bit of it the other way round in some place.
static void damaged_manifests_are_refused(void **state) {
  (void)state;
  static rank ranks[1];
  char *folder = saved(), *text = scratch_read(manifest_path());
  size_t size = strlen(text);
  for (size_t i = 0; i < 2 * size; i += 3) {
    char *other = strdup(text);
    if (i < size)
      other[i] = 0;
    else
      other[i - size] = (char)(other[i - size] ^ (1 << i % 7));
    scratch_write(manifest_path(), other);
    run(&(job){.load = folder, .label = "mine"}, ranks);
    if (ranks->loaded == VYRE_OK) fail_msg("taken: %s", other);
    free(other);
  }
  free(text);
}

// Writes the manifest with `from` replaced by `to`, and a checksum that is right.
static void forge(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from), *end = strstr(text, "\nblake3 = \"");
  for (const char *next; (next = strstr(end + 1, "\nblake3 = \""));) end = next; // the last one
  strbuf out = {0};
  uint8_t hash[HASH_BYTES];
  char hex[HASH_HEX];
  assert_true(at && at < end);
  strbuf_add(&out, text, (size_t)(at - text));
  strbuf_puts(&out, to);
  strbuf_add(&out, at + strlen(from), (size_t)(end - at) - strlen(from));
  hash_bytes(out.at, out.size, hash);
  hash_hex(hash, hex);
  strbuf_printf(&out, "\nblake3 = \"%s\"\n", hex);
  char *made = strbuf_take(&out, NULL);
  assert_non_null(made);
  scratch_write(manifest_path(), made);
  free(made);
}

static void hostile_manifests_are_refused(void **state) {
  (void)state;
  char *folder = saved(), *text = scratch_read(manifest_path());
  static const struct {
    const char *from, *to, *why;
  } cases[] = {
      {"format = 1", "format = 2", "another version"},
      {"step = 2", "step = -2", "no step"},
      {"pieces = [[0, 0,", "pieces = [[0, 1,", "size of its pieces"},
      {"pieces = [[0, 0, 352]", "pieces = [[4, 0, 352]", "not there"},
      {"pieces = [[0, 0, 352]", "pieces = [[0, 0, 18446744073709551615]", "outside"},
      {"pieces = [[0, 0, 352]", "pieces = [[0, 352, 0]", "outside"},
      {"pieces = [[0, 0, 352]", "pieces = [[0, 8, 360]", "missing"},
      {"pieces = [[0, 0, 352]", "pieces = [[1, 0, 352]", "missing"},
      {"pieces = [[0, 0, 352]", "pieces = [[0, 0, 352], [0, 0, 352]", "size of its pieces"},
      {"pieces = [[0, 0, 352]", "pieces = [[0, 0]", "malformed"},
      {"pieces = [[0, 0, 352]", "pieces = [352", "malformed"},
      {"file = \"part-0", "file = \"../part-0", "no name of a part"},
      {"file = \"part-0", "file = \"/etc/passwd", "no name of a part"},
      {"bytes = 1056", "bytes = 1057", "another size"},
      {"name = \"b\"", "name = \"a\"", "buffer twice"},
      {"name = \"b\"", "name = \"c\"", "other buffers"},
      {"blake3 = \"", "blake3 = \"0", "no checksum"},
      {"[[buffer]]", "[[buffer]", "checkpoint.toml"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    forge(text, cases[i].from, cases[i].to);
    expect_refused((job){.load = folder, .label = "mine"},
                   strchr(cases[i].why, '.') ? "Fix:" : cases[i].why);
  }
  forge(text, "step = 2", "step = 7"); // what is forged well is believed
  static rank ranks[MOST_RANKS];
  run(&(job){.ranks = 2, .load = folder, .label = "mine"}, ranks);
  assert_int_equal(ranks->loaded, VYRE_OK);
  assert_int_equal(ranks->step, 7);
  free(text);
}

// ---- a disk that is full ------------------------------------------------------------------------

static void save_on_a_full_disk(const void *context) {
  static rank ranks[MOST_RANKS];
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = *(const rlim_t *)context;
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  for (uint32_t count = 0; count < 4; count += 3) {
    run(&(job){.ranks = count, .end = 5, .save = scratch_path("damaged"), .label = "mine"}, ranks);
    bool is_said = false;
    for (uint32_t n = 0; n < (count ? count : 1); n++) {
      CHECK(ranks[n].saved != VYRE_OK);
      is_said |= strstr(ranks[n].save_error.message, "cannot write") != NULL;
    }
    CHECK(is_said);
  }
}

static void a_full_disk_leaves_the_checkpoint_before(void **state) {
  (void)state;
  static rank before[MOST_RANKS], after[MOST_RANKS];
  char *folder = saved(), part[600];
  run(&(job){.end = 2}, before);
  // No room for a part; room for parts, but not for the manifest.
  for (rlim_t bytes = 64; bytes < 1000; bytes += 736) {
    in_child(save_on_a_full_disk, &bytes);
    assert_int_equal(files_in(folder, part, sizeof part), 4);
    run(&(job){.ranks = 2, .load = folder, .label = "mine"}, after);
    assert_int_equal(after->loaded, VYRE_OK);
    assert_int_equal(after->step, 2);
    assert_memory_equal(&after->found, &before->found, sizeof before->found);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_ranks_go_on_with_the_same_bits),
      cmocka_unit_test(older_parts_are_removed),
      cmocka_unit_test(other_programs_and_buffers_are_refused),
      cmocka_unit_test(damaged_parts_are_refused),
      cmocka_unit_test(damaged_manifests_are_refused),
      cmocka_unit_test(hostile_manifests_are_refused),
      cmocka_unit_test(a_full_disk_leaves_the_checkpoint_before),
  };
  return cmocka_run_group_tests(tests, fresh_home, scratch_dir_remove);
}
