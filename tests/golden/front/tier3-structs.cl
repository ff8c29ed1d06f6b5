// Structures: in buffers, by value as arguments, copied, nested, initialised, in local memory, given
// to functions by value and by pointer and returned from them.
// RUN: clcompare %s:particles --grid 64 p=f32:rand:64 dt=0.125
// RUN: clcompare %s:by_value --grid 64 given=i32:3/f32:0.5/i32:-2 o=zeros:192
// RUN: clcompare %s:nested --grid 32 x=rand:128 o=f32:zeros:32
// RUN: clcompare %s:in_local --grid 128 --workgroup 32 x=rand:128 y=zeros:128
// RUN: clcompare %s:layout --grid 16 m=u8:bits:16 o=zeros:96
// RUN: clcompare %s:arrays --grid 16 o=zeros:64
// CHECK: particles: ok
// CHECK: by_value: ok
// CHECK: nested: ok
// CHECK: in_local: ok
// CHECK: layout: ok
// CHECK: arrays: ok
typedef struct {
  float x, y, z, mass;
  float vx, vy, vz, charge;
} particle;
kernel void particles(global particle *p, float dt) {
  int i = get_global_id(0);
  particle q = p[i];
  q.x += q.vx * dt;
  q.y += q.vy * dt;
  q.z += q.vz * dt;
  p[i].vx = q.vx * 0.99f;
  p[i].x = q.x;
  p[i].y = q.y;
  global particle *self = &p[i];
  self->z = q.z;
}

struct setting {
  int n;
  float scale;
  int shift;
};
kernel void by_value(struct setting given, global float *o) {
  int i = get_global_id(0);
  struct setting s = given; // PoCL shares the argument itself between work items
  o[3 * i] = s.n * given.scale;
  s.n += i;
  o[3 * i + 1] = s.n + s.shift;
  struct setting t = s;
  t.scale = 2;
  o[3 * i + 2] = s.scale + t.scale * t.n;
}

typedef struct {
  float2 lo, hi;
} box;
typedef struct {
  box bounds;
  int id;
  float w[3];
} item;
box grow(box b, float2 p) {
  b.lo = min(b.lo, p);
  b.hi = max(b.hi, p);
  return b;
}
void mark(item *t, int id) {
  t->id = id;
  t->w[id % 3] = 1.5f;
}
float area(const box *b) {
  float2 d = b->hi - b->lo;
  return d.x * d.y;
}
typedef struct {
  float area;
  int id;
  float a, b, c;
  float lox, loy, hix;
} result;
kernel void nested(global const float2 *x, global result *o) {
  int i = get_global_id(0);
  item t = {{(float2)(100), (float2)(-100)}, 7};
  for (int k = 0; k < 4; k++) t.bounds = grow(t.bounds, x[4 * i + k]);
  mark(&t, i);
  result r = {area(&t.bounds), t.id, t.w[0], t.w[1], .c = t.w[2]};
  r.lox = t.bounds.lo.x;
  r.loy = t.bounds.lo.y;
  r.hix = t.bounds.hi.x;
  o[i] = r;
}

typedef struct {
  float value;
  int from;
} pair;
kernel void in_local(global const float *x, global float *y) {
  local pair t[32];
  int i = get_local_id(0);
  t[i].value = x[get_global_id(0)];
  t[i].from = get_global_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  pair other = t[31 - i];
  y[get_global_id(0)] = other.value + other.from;
}

typedef struct {
  uchar a;
  ushort b;
  uint c;
  uchar d;
  long e;
} uneven;
typedef struct __attribute__((packed)) {
  uchar a;
  uint b;
} tight;
kernel void layout(global const uneven *m, global long *o) {
  int i = get_global_id(0);
  o[6 * i] = m[i].a;
  o[6 * i + 1] = m[i].b;
  o[6 * i + 2] = m[i].c;
  o[6 * i + 3] = m[i].d;
  o[6 * i + 4] = m[i].e;
  o[6 * i + 5] = sizeof(uneven) * 100 + sizeof(tight);
}

kernel void arrays(global int *o) {
  int i = get_global_id(0);
  pair p[4];
  for (int k = 0; k < 4; k++) {
    p[k].value = k * 0.5f;
    p[k].from = k * i;
  }
  pair *q = p;
  q += i % 3;
  q->from += 100;
  o[4 * i] = p[0].from;
  o[4 * i + 1] = p[1].from + (int)p[3].value;
  o[4 * i + 2] = q[1].from;
  p[3] = p[i % 4];
  o[4 * i + 3] = p[3].from;
}
