// SPDX-License-Identifier: MIT
//
// Every command of the OpenCL driver with one argument that is wrong: a queue, memory, a kernel or
// an event that is none or another context's, wait lists without events, null addresses, flags that
// contradict each other. The same command without the fault is taken. What went wrong in a command
// is told to its context.
#include "../icd.h"

enum { WIDTH = 4, BYTES = 64 };

typedef struct asked {
  cl_command_queue queue;
  cl_mem a, b, image, other_image;
  cl_kernel kernel;
  cl_uint count;
  const cl_event *list;
} asked;

static const size_t origin[3] = {0, 0, 0}, box[3] = {2, 2, 1};
static char room[1024];

static void CL_CALLBACK nothing(void *args) {
  (void)args;
}

// Of a pointer that a map returned.
static cl_int unmapped(const asked *x, cl_mem memory, void *at, cl_int code) {
  if (code != CL_SUCCESS) {
    assert_null(at);
    return code;
  }
  assert_non_null(at);
  OK(clEnqueueUnmapMemObject(x->queue, memory, at, 0, NULL, NULL));
  return code;
}

#define COMMAND(name, call)                                                                        \
  static cl_int name(const asked *x) {                                                             \
    return call;                                                                                   \
  }
#define WAIT x->count, x->list, NULL

COMMAND(read_buffer, clEnqueueReadBuffer(x->queue, x->a, CL_FALSE, 0, 8, room, WAIT))
COMMAND(write_buffer, clEnqueueWriteBuffer(x->queue, x->a, CL_FALSE, 0, 8, room, WAIT))
COMMAND(fill_buffer, clEnqueueFillBuffer(x->queue, x->a, room, 4, 0, 8, WAIT))
COMMAND(copy_buffer, clEnqueueCopyBuffer(x->queue, x->a, x->b, 0, 0, 8, WAIT))
COMMAND(read_rect, clEnqueueReadBufferRect(x->queue, x->a, CL_FALSE, origin, origin, box, 4, 0, 4,
                                           0, room, WAIT))
COMMAND(write_rect, clEnqueueWriteBufferRect(x->queue, x->a, CL_FALSE, origin, origin, box, 4, 0, 4,
                                             0, room, WAIT))
COMMAND(copy_rect,
        clEnqueueCopyBufferRect(x->queue, x->a, x->b, origin, origin, box, 4, 0, 4, 0, WAIT))
COMMAND(migrate, clEnqueueMigrateMemObjects(x->queue, 1, &x->a, 0, WAIT))
COMMAND(read_image, clEnqueueReadImage(x->queue, x->image, CL_FALSE, origin, box, 0, 0, room, WAIT))
COMMAND(write_image,
        clEnqueueWriteImage(x->queue, x->image, CL_FALSE, origin, box, 0, 0, room, WAIT))
COMMAND(fill_image, clEnqueueFillImage(x->queue, x->image, room, origin, box, WAIT))
COMMAND(copy_image,
        clEnqueueCopyImage(x->queue, x->image, x->other_image, origin, origin, box, WAIT))
COMMAND(image_to_buffer, clEnqueueCopyImageToBuffer(x->queue, x->image, x->a, origin, box, 0, WAIT))
COMMAND(buffer_to_image, clEnqueueCopyBufferToImage(x->queue, x->a, x->image, 0, origin, box, WAIT))
COMMAND(run_kernel, clEnqueueNDRangeKernel(x->queue, x->kernel, 1, NULL, box, NULL, WAIT))
COMMAND(run_task, clEnqueueTask(x->queue, x->kernel, WAIT))
COMMAND(run_native, clEnqueueNativeKernel(x->queue, nothing, NULL, 0, 0, NULL, NULL, WAIT))
COMMAND(marker, clEnqueueMarkerWithWaitList(x->queue, WAIT))
COMMAND(barrier, clEnqueueBarrierWithWaitList(x->queue, WAIT))

static cl_int map_buffer(const asked *x) {
  cl_int code = 1;
  void *at = clEnqueueMapBuffer(x->queue, x->a, CL_FALSE, CL_MAP_READ, 0, 8, WAIT, &code);
  return unmapped(x, x->a, at, code);
}

static cl_int map_image(const asked *x) {
  cl_int code = 1;
  size_t row;
  void *at = clEnqueueMapImage(x->queue, x->image, CL_FALSE, CL_MAP_READ, origin, box, &row, NULL,
                               WAIT, &code);
  return unmapped(x, x->image, at, code);
}

typedef struct command {
  const char *name;
  cl_int (*call)(const asked *x);
  const char *uses; // letters: a and b buffers, i and o images, k a kernel
} command;

#define ROW(name, uses)                                                                            \
  { #name, name, uses }
static const command commands[] = {
    ROW(read_buffer, "a"),      ROW(write_buffer, "a"),     ROW(fill_buffer, "a"),
    ROW(copy_buffer, "ab"),     ROW(read_rect, "a"),        ROW(write_rect, "a"),
    ROW(copy_rect, "ab"),       ROW(migrate, "m"),          ROW(read_image, "i"),
    ROW(write_image, "i"),      ROW(fill_image, "i"),       ROW(copy_image, "io"),
    ROW(image_to_buffer, "ai"), ROW(buffer_to_image, "ai"), ROW(run_kernel, "k"),
    ROW(run_task, "k"),         ROW(run_native, ""),        ROW(marker, ""),
    ROW(barrier, ""),

    ROW(map_buffer, "a"),       ROW(map_image, "i"),
};

static void expect(const command *c, const asked *x, const char *fault, cl_int wanted) {
  cl_int found = c->call(x);
  if (found != wanted) fail_msg("%s with %s: %d and not %d", c->name, fault, found, wanted);
}

static cl_mem new_image(cl_context context) {
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  const cl_image_desc about = {
      .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = WIDTH};
  cl_int code;
  cl_mem made = clCreateImage(context, 0, &format, &about, NULL, &code);
  OK(code);
  return made;
}

static asked begin(icd *i) {
  *i = icd_begin("kernel void k(global int *x) { x[get_global_id(0)] = 1; }\n", 0);
  asked x = {.queue = i->queue,
             .a = icd_buffer(i, BYTES, NULL),
             .b = icd_buffer(i, BYTES, NULL),
             .image = new_image(i->context),
             .other_image = new_image(i->context),
             .kernel = icd_kernel(i, "k")};
  OK(clSetKernelArg(x.kernel, 0, sizeof x.a, &x.a));
  return x;
}

static void end(icd *i, asked *x) {
  OK(clFinish(x->queue));
  OK(clReleaseMemObject(x->a));
  OK(clReleaseMemObject(x->b));
  OK(clReleaseMemObject(x->image));
  OK(clReleaseMemObject(x->other_image));
  OK(clReleaseKernel(x->kernel));
  icd_end(i);
}

// A command with memory or a kernel of `from` in place of its own.
static void expect_others(const command *c, const asked *right, const asked *from, cl_int memory,
                          cl_int kernel) {
  asked x = *right;
  for (const char *use = c->uses; *use; use++) {
    x = *right;
    switch (*use) {
    case 'm':
    case 'a': x.a = from->a; break;
    case 'b': x.b = from->b; break;
    case 'i': x.image = from->image; break;
    case 'o': x.other_image = from->other_image; break;
    default: x.kernel = from->kernel;
    }
    const char name[] = {*use, 0};
    expect(c, &x, name, *use == 'k' ? kernel : memory);
  }
}

static void every_command_looks_at_its_objects(void **state) {
  (void)state;
  icd i, other;
  asked x = begin(&i), foreign = begin(&other);
  const size_t count = sizeof commands / sizeof *commands;
  void *none = x.queue; // no memory, no kernel, no event
  asked no_objects = {.a = none, .b = none, .image = none, .other_image = none, .kernel = none};
  asked swapped = x; // an image for a buffer, and a buffer for an image
  swapped.a = swapped.b = x.image;
  swapped.image = swapped.other_image = x.a;
  for (size_t k = 0; k < count; k++) {
    expect(&commands[k], &x, "nothing wrong", CL_SUCCESS);
    asked wrong = x;
    wrong.queue = (cl_command_queue)i.context;
    expect(&commands[k], &wrong, "no queue", CL_INVALID_COMMAND_QUEUE);
    expect_others(&commands[k], &x, &no_objects, CL_INVALID_MEM_OBJECT, CL_INVALID_KERNEL);
    expect_others(&commands[k], &x, &foreign, CL_INVALID_CONTEXT, CL_INVALID_CONTEXT);
    if (!strpbrk(commands[k].uses, "mk"))
      expect_others(&commands[k], &x, &swapped, CL_INVALID_MEM_OBJECT, 0);
  }
  // What is mapped is given back once, of its own memory.
  cl_int code;
  void *at = clEnqueueMapBuffer(x.queue, x.a, CL_TRUE, CL_MAP_READ, 8, 8, 0, NULL, NULL, &code);
  OK(code);
  FAILS(CL_INVALID_COMMAND_QUEUE,
        clEnqueueUnmapMemObject((cl_command_queue)i.context, x.a, at, 0, NULL, NULL));
  FAILS(CL_INVALID_MEM_OBJECT, clEnqueueUnmapMemObject(x.queue, none, at, 0, NULL, NULL));
  FAILS(CL_INVALID_CONTEXT, clEnqueueUnmapMemObject(x.queue, foreign.a, at, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(x.queue, x.b, at, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(x.queue, x.a, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(x.queue, x.a, (char *)at - 8, 0, NULL, NULL));
  OK(clEnqueueUnmapMemObject(x.queue, x.a, at, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueUnmapMemObject(x.queue, x.a, at, 0, NULL, NULL));
  end(&other, &foreign);
  end(&i, &x);
}

static void every_command_looks_at_its_wait_list(void **state) {
  (void)state;
  icd i, other;
  asked x = begin(&i), foreign = begin(&other);
  cl_int code;
  cl_event own = clCreateUserEvent(i.context, &code), far = clCreateUserEvent(other.context, &code);
  OK(code);
  OK(clSetUserEventStatus(own, CL_COMPLETE));
  const cl_event right[] = {own, own}, none[] = {own, (cl_event)i.context}, away[] = {own, far};
  for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
    asked with = x;
    with.count = 2;
    with.list = right;
    expect(&commands[k], &with, "events", CL_SUCCESS);
    with.list = none;
    expect(&commands[k], &with, "an event that is none", CL_INVALID_EVENT_WAIT_LIST);
    with.list = away;
    expect(&commands[k], &with, "another context's event", CL_INVALID_CONTEXT);
    with.list = NULL;
    expect(&commands[k], &with, "a number without a list", CL_INVALID_EVENT_WAIT_LIST);
    with.count = 0;
    with.list = right;
    expect(&commands[k], &with, "a list without a number", CL_INVALID_EVENT_WAIT_LIST);
  }
  FAILS(CL_INVALID_VALUE, clEnqueueWaitForEvents(x.queue, 0, right));
  FAILS(CL_INVALID_VALUE, clEnqueueWaitForEvents(x.queue, 1, NULL));
  FAILS(CL_INVALID_EVENT, clEnqueueWaitForEvents(x.queue, 2, none));
  FAILS(CL_INVALID_CONTEXT, clEnqueueWaitForEvents(x.queue, 2, away));
  FAILS(CL_INVALID_VALUE, clWaitForEvents(0, right));
  FAILS(CL_INVALID_VALUE, clWaitForEvents(1, NULL));
  FAILS(CL_INVALID_EVENT, clWaitForEvents(2, none));
  FAILS(CL_INVALID_CONTEXT, clWaitForEvents(2, away));
  OK(clWaitForEvents(2, right));
  OK(clSetUserEventStatus(far, CL_COMPLETE));
  OK(clReleaseEvent(own));
  OK(clReleaseEvent(far));
  end(&other, &foreign);
  end(&i, &x);
}

// ---- values -------------------------------------------------------------------------------------

static void maps_and_flags(void **state) {
  (void)state;
  icd i;
  asked x = begin(&i);
  cl_int code;
  static const struct {
    cl_map_flags flags;
    cl_int code;
  } rows[] = {
      {0, CL_SUCCESS},
      {CL_MAP_READ, CL_SUCCESS},
      {CL_MAP_WRITE, CL_SUCCESS},
      {CL_MAP_READ | CL_MAP_WRITE, CL_SUCCESS},
      {CL_MAP_WRITE_INVALIDATE_REGION, CL_SUCCESS},
      {CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_READ, CL_INVALID_VALUE},
      {CL_MAP_WRITE_INVALIDATE_REGION | CL_MAP_WRITE, CL_INVALID_VALUE},
      {1u << 3, CL_INVALID_VALUE},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    size_t row;
    void *at = clEnqueueMapBuffer(x.queue, x.a, CL_TRUE, rows[k].flags, 0, 8, 0, NULL, NULL, &code);
    FAILS(rows[k].code, unmapped(&x, x.a, at, code));
    at = clEnqueueMapImage(x.queue, x.image, CL_TRUE, rows[k].flags, origin, box, &row, NULL, 0,
                           NULL, NULL, &code);
    FAILS(rows[k].code, unmapped(&x, x.image, at, code));
  }
  static const struct {
    cl_mem_flags made;
    cl_int reads, writes;
  } of_host[] = {{CL_MEM_HOST_READ_ONLY, CL_SUCCESS, CL_INVALID_OPERATION},
                 {CL_MEM_HOST_WRITE_ONLY, CL_INVALID_OPERATION, CL_SUCCESS},
                 {CL_MEM_HOST_NO_ACCESS, CL_INVALID_OPERATION, CL_INVALID_OPERATION}};
  for (size_t k = 0; k < sizeof of_host / sizeof *of_host; k++) {
    cl_mem m = clCreateBuffer(i.context, of_host[k].made, BYTES, NULL, &code);
    const cl_map_flags flags[] = {CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION};
    for (int n = 0; n < 3; n++) {
      void *at = clEnqueueMapBuffer(x.queue, m, CL_TRUE, flags[n], 0, 8, 0, NULL, NULL, &code);
      FAILS(n ? of_host[k].writes : of_host[k].reads, unmapped(&x, m, at, code));
    }
    asked own = x;
    own.a = m;
    FAILS(of_host[k].reads, read_buffer(&own));
    FAILS(of_host[k].writes, write_buffer(&own));
    FAILS(of_host[k].reads, read_rect(&own));
    FAILS(of_host[k].writes, write_rect(&own));
    OK(clFinish(x.queue));
    OK(clReleaseMemObject(m));
  }
  static const size_t ranges[][2] = {{0, 0}, {BYTES, 1}, {BYTES + 1, 1}, {1, BYTES}, {1, SIZE_MAX}};
  for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
    assert_null(clEnqueueMapBuffer(x.queue, x.a, CL_TRUE, CL_MAP_READ, ranges[k][0], ranges[k][1],
                                   0, NULL, NULL, &code));
    FAILS(CL_INVALID_VALUE, code);
  }
  end(&i, &x);
}

static void null_images_and_places(void **state) {
  (void)state;
  icd i;
  asked x = begin(&i);
  cl_int code;
  size_t row;
  FAILS(CL_INVALID_VALUE,
        clEnqueueReadImage(x.queue, x.image, CL_TRUE, origin, box, 0, 0, NULL, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueFillImage(x.queue, x.image, NULL, origin, box, 0, NULL, NULL));
  const size_t *nulls[][3] = {{NULL, box, &row}, {origin, NULL, &row}, {origin, box, NULL}};
  for (int k = 0; k < 3; k++) {
    assert_null(clEnqueueMapImage(x.queue, x.image, CL_TRUE, CL_MAP_READ, nulls[k][0], nulls[k][1],
                                  (size_t *)(uintptr_t)nulls[k][2], NULL, 0, NULL, NULL, &code));
    FAILS(CL_INVALID_VALUE, code);
  }
  // The buffer has room for the pixels of exactly this box.
  const size_t all[3] = {WIDTH, WIDTH, 1};
  OK(clEnqueueCopyImageToBuffer(x.queue, x.image, x.a, origin, all, 0, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueCopyImageToBuffer(x.queue, x.image, x.a, origin, all, 1, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueCopyBufferToImage(x.queue, x.a, x.image, 1, origin, all, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE,
        clEnqueueCopyBufferToImage(x.queue, x.a, x.image, SIZE_MAX, origin, box, 0, NULL, NULL));
  end(&i, &x);
}

// Boxes of 2 x 2 bytes in rows of 4, one moved by so many bytes and rows. Those that wrap around
// a row overlap where their bytes lie among each other.
static void boxes_that_overlap(void **state) {
  (void)state;
  icd i;
  asked x = begin(&i);
  static const struct {
    size_t from[3], to[3];
    cl_int code;
  } rows[] = {
      {{0, 0, 0}, {2, 0, 0}, CL_SUCCESS},          {{2, 0, 0}, {0, 0, 0}, CL_SUCCESS},
      {{0, 0, 0}, {1, 0, 0}, CL_MEM_COPY_OVERLAP}, {{1, 0, 0}, {0, 0, 0}, CL_MEM_COPY_OVERLAP},
      {{0, 0, 0}, {0, 1, 0}, CL_MEM_COPY_OVERLAP}, {{0, 1, 0}, {0, 0, 0}, CL_MEM_COPY_OVERLAP},
      {{0, 0, 0}, {0, 2, 0}, CL_SUCCESS},          {{0, 2, 0}, {0, 0, 0}, CL_SUCCESS},
      {{0, 0, 0}, {2, 1, 0}, CL_SUCCESS},          {{2, 1, 0}, {0, 0, 0}, CL_SUCCESS},
      {{0, 0, 0}, {3, 0, 0}, CL_MEM_COPY_OVERLAP}, {{3, 0, 0}, {0, 0, 0}, CL_MEM_COPY_OVERLAP},
      {{0, 0, 0}, {1, 1, 0}, CL_MEM_COPY_OVERLAP}, {{0, 0, 0}, {0, 0, 1}, CL_SUCCESS},
      {{0, 0, 0}, {0, 0, 0}, CL_MEM_COPY_OVERLAP},
  };
  const size_t square[3] = {2, 2, 1};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    cl_int found = clEnqueueCopyBufferRect(x.queue, x.a, x.a, rows[k].from, rows[k].to, square, 4,
                                           16, 4, 16, 0, NULL, NULL);
    if (found != rows[k].code) fail_msg("row %zu: %d", k, found);
  }
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(x.queue, x.a, x.b, NULL, origin, square, 4, 16, 4,
                                                  16, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(x.queue, x.a, x.b, origin, NULL, square, 4, 16, 4,
                                                  16, 0, NULL, NULL));
  const size_t far[3] = {0, 15, 0}; // each side on its own is looked at
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(x.queue, x.a, x.b, far, origin, square, 4, 16, 4,
                                                  16, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(x.queue, x.a, x.b, origin, far, square, 4, 16, 4,
                                                  16, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(x.queue, x.a, x.b, origin, origin, square, 1, 16,
                                                  4, 16, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(x.queue, x.a, x.b, origin, origin, square, 4, 16,
                                                  1, 16, 0, NULL, NULL));
  FAILS(CL_INVALID_VALUE, clEnqueueCopyBufferRect(x.queue, x.a, x.a, origin, far, square, 4, 16, 4,
                                                  20, 0, NULL, NULL));
  end(&i, &x);
}

// ---- questions ----------------------------------------------------------------------------------

static void events_tell_about_themselves(void **state) {
  (void)state;
  icd i;
  asked x = begin(&i);
  cl_int code, status = 1;
  cl_event gate = clCreateUserEvent(i.context, &code), e;
  cl_command_queue queue = NULL;
  cl_context context = NULL;
  cl_command_type type = 0;
  cl_uint references = 0;
  size_t size = 0;
  OK(code);
  OK(clEnqueueFillBuffer(x.queue, x.a, room, 4, 0, 8, 1, &gate, &e));
  OK(clGetEventInfo(e, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, &size));
  assert_ptr_equal(queue, x.queue);
  assert_int_equal(size, sizeof queue);
  OK(clGetEventInfo(e, CL_EVENT_CONTEXT, sizeof context, &context, NULL));
  assert_ptr_equal(context, i.context);
  OK(clGetEventInfo(e, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_COMMAND_FILL_BUFFER);
  OK(clGetEventInfo(gate, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL));
  assert_null(queue);
  OK(clGetEventInfo(gate, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
  assert_int_equal(type, CL_COMMAND_USER);
  OK(clGetEventInfo(gate, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  assert_int_equal(status, CL_SUBMITTED);
  FAILS(CL_INVALID_VALUE, clGetEventInfo(e, CL_EVENT_CONTEXT, 4, &context, NULL));
  FAILS(CL_INVALID_VALUE, clGetEventInfo(e, CL_EVENT_CONTEXT + 10, 8, &context, NULL));
  FAILS(CL_INVALID_EVENT, clGetEventInfo((cl_event)i.context, CL_EVENT_CONTEXT, 8, &context, NULL));
  FAILS(CL_INVALID_EVENT,
        clGetEventProfilingInfo((cl_event)i.context, CL_PROFILING_COMMAND_END, 8, &context, NULL));
  FAILS(CL_INVALID_VALUE, clGetEventProfilingInfo(e, CL_EVENT_CONTEXT, 8, &context, NULL));
  FAILS(CL_PROFILING_INFO_NOT_AVAILABLE,
        clGetEventProfilingInfo(gate, CL_PROFILING_COMMAND_END, 8, &context, NULL));
  FAILS(CL_INVALID_EVENT, clRetainEvent((cl_event)i.context));
  FAILS(CL_INVALID_EVENT, clReleaseEvent((cl_event)i.context));
  FAILS(CL_INVALID_EVENT, clSetUserEventStatus((cl_event)i.context, CL_COMPLETE));
  FAILS(CL_INVALID_VALUE, clSetUserEventStatus(gate, CL_RUNNING));
  OK(clSetUserEventStatus(gate, CL_COMPLETE));
  OK(clWaitForEvents(1, &e));
  OK(clFinish(x.queue));
  OK(clRetainEvent(gate));
  OK(clGetEventInfo(gate, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL));
  assert_int_equal(references, 2);
  OK(clReleaseEvent(gate));
  OK(clGetEventInfo(gate, CL_EVENT_REFERENCE_COUNT, sizeof references, &references, NULL));
  assert_int_equal(references, 1);
  OK(clReleaseEvent(gate));
  OK(clReleaseEvent(e));
  end(&i, &x);
}

static void subgroups_are_counted(void **state) {
  (void)state;
  icd i;
  asked x = begin(&i);
  const size_t items[] = {3, 2, 1}, many[] = {16, 16, 2}, none[] = {4, 0, 1}, over[] = {1 << 20};
  const struct {
    const size_t *in;
    size_t in_size, width, count;
  } rows[] = {{items, 8, 3, 1}, {items, 16, 6, 1}, {items, 24, 6, 1}, {many, 24, 0, 0}};
  size_t most = 0, found = 0, all = 0;
  OK(clGetKernelSubGroupInfo(x.kernel, i.device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 24, many,
                             sizeof most, &most, NULL));
  assert_true(most > 6 && most < 512);
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    OK(clGetKernelSubGroupInfo(x.kernel, i.device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                               rows[k].in_size, rows[k].in, sizeof found, &found, NULL));
    assert_int_equal(found, rows[k].width ? rows[k].width : most);
    OK(clGetKernelSubGroupInfo(x.kernel, i.device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE,
                               rows[k].in_size, rows[k].in, sizeof found, &found, NULL));
    assert_int_equal(found, rows[k].width ? rows[k].count : 512 / most);
  }
  const cl_kernel_sub_group_info ranges[] = {CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE,
                                             CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE};
  for (int k = 0; k < 2; k++) {
    const struct {
      size_t size;
      const size_t *in;
    } wrong[] = {{24, NULL}, {0, items}, {7, items}, {32, items}, {24, none}, {8, over}};
    for (size_t n = 0; n < sizeof wrong / sizeof *wrong; n++)
      FAILS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(x.kernel, i.device, ranges[k], wrong[n].size,
                                                      wrong[n].in, sizeof found, &found, NULL));
  }
  OK(clGetKernelWorkGroupInfo(x.kernel, i.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof all, &all,
                              NULL));
  OK(clGetKernelSubGroupInfo(x.kernel, i.device, CL_KERNEL_MAX_NUM_SUB_GROUPS, 0, NULL,
                             sizeof found, &found, NULL));
  assert_int_equal(found, (all + most - 1) / most);
  FAILS(CL_INVALID_VALUE, clGetKernelSubGroupInfo(x.kernel, i.device, CL_KERNEL_WORK_GROUP_SIZE, 0,
                                                  NULL, sizeof found, &found, NULL));
  FAILS(CL_INVALID_KERNEL, clRetainKernel((cl_kernel)i.context));
  OK(clRetainKernel(x.kernel));
  OK(clReleaseKernel(x.kernel));
  end(&i, &x);
}

// ---- what is told -------------------------------------------------------------------------------

typedef struct heard {
  char text[512];
  int count;
} heard;

static void CL_CALLBACK hear(const char *text, const void *more, size_t size, void *data) {
  heard *h = data;
  (void)more, (void)size;
  snprintf(h->text, sizeof h->text, "%s", text);
  __atomic_fetch_add(&h->count, 1, __ATOMIC_RELEASE);
}

// A barrier that only some items reach, which shows when it runs.
static void a_context_hears_of_failures(void **state) {
  (void)state;
  icd i = icd_begin(NULL, 0);
  heard h = {.count = 0};
  const int some[8] = {1, 0, 1};
  const size_t size = 8;
  cl_int code, status = 1;
  cl_event e;
  icd own = {.platform = i.platform, .device = i.device};
  own.context = clCreateContext(NULL, 1, &i.device, hear, &h, &code);
  OK(code);
  own.queue = clCreateCommandQueue(own.context, i.device, 0, &code);
  OK(code);
  own.program = icd_build(&own,
                          "kernel void part(global int *x) {\n"
                          "  if (x[get_local_id(0)]) barrier(CLK_LOCAL_MEM_FENCE);\n"
                          "  x[get_local_id(0)] += 1;\n"
                          "}\n",
                          NULL);
  cl_kernel k = icd_kernel(&own, "part");
  cl_mem x = icd_buffer(&own, sizeof some, some);
  OK(clSetKernelArg(k, 0, sizeof x, &x));
  assert_int_equal(h.count, 0);
  OK(clEnqueueNDRangeKernel(own.queue, k, 1, NULL, &size, &size, 0, NULL, &e));
  FAILS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &e));
  OK(clGetEventInfo(e, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  assert_int_equal(status, CL_OUT_OF_RESOURCES);
  assert_int_equal(__atomic_load_n(&h.count, __ATOMIC_ACQUIRE), 1);
  if (strncmp(h.text, "vyre: ", 6) || !strstr(h.text, "barrier") || !strstr(h.text, "Fix:"))
    fail_msg("%s", h.text);
  OK(clReleaseEvent(e));
  OK(clReleaseMemObject(x));
  OK(clReleaseKernel(k));
  icd_end(&own);
  icd_end(&i);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_command_looks_at_its_objects),
      cmocka_unit_test(every_command_looks_at_its_wait_list),
      cmocka_unit_test(maps_and_flags),
      cmocka_unit_test(null_images_and_places),
      cmocka_unit_test(boxes_that_overlap),
      cmocka_unit_test(events_tell_about_themselves),
      cmocka_unit_test(subgroups_are_counted),
      cmocka_unit_test(a_context_hears_of_failures),
  };
  return cmocka_run_group_tests_name("icd_wrong", tests, NULL, NULL);
}
