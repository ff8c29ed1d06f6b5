// Pointers that are kept in memory and reached by pointers to several objects: lists, unions that show
// them as numbers, atomics on one of several objects, bytes counted in words, void as bytes.
// RUN: clcompare %s:lists --grid 64 in=rand:64:-40:60 out=zeros:64
// RUN: clcompare %s:shown --grid 64 in=rand:80:-40:60 out=zeros:64
// RUN: vyre run %s:shown in=iota:16 out=zeros:8 --grid 8 --print out
// CHECK: 0: 1 12 23 34 45 56 67 78
// RUN: clcompare %s:counted --grid 30 out=zeros:16 other=zeros:16
// RUN: clcompare %s:bytes --grid 2 p=u32:list:2,0,1073741824,0,0,1065353216,1082130432 in=iota:8 out=zeros:2
// RUN: vyre convert %s:bytes | grep buffer
// CHECK: buffer p: u32[] readwrite
// CHECK-NEXT: buffer in: i32[] read
// CHECK-NEXT: buffer out: f32[] write
// RUN: vyre convert %s:plain | grep buffer
// CHECK: buffer p: f32[] read
typedef struct item {
  int value;
  struct item *next;
} item;

kernel void lists(global const int *in, global int *out) {
  int g = get_global_id(0), sum = 0;
  item l[3] = {{in[g], &l[1]}, {2, &l[2]}, {3, 0}}, other = {in[g] * 3, &l[1]};
  for (item *i = in[g] & 1 ? l : &other; i; i = i->next) sum = sum * 5 + i->value;
  item *q = in[g] & 2 ? &l[0] : &other;
  q->next = q->next->next;
  q->value++;
  out[g] = sum + l[0].value + other.value * 3 + l[0].next->value + other.next->value;
}

typedef union {
  global const int *p;
  ulong n;
  uint2 halves;
} shows;

kernel void shown(global const int *in, global int *out) {
  int g = get_global_id(0);
  shows u;
  u.p = in + g;
  int same = u.n == (ulong)(in + g) && u.n - (ulong)in == 4 * g;
  u.n += 4;
  shows copy = u;
  copy.n -= 4;
  u.halves.x += 8;
  shows none;
  none.n = 0;
  out[g] = (same ? *copy.p * 10 : 0) + *u.p - 3 + (none.p == 0 ? 1 : 1000);
}

kernel void counted(global int *out, global int *other) {
  int g = get_global_id(0);
  global int *some[3] = {out, 0, other + 8};
  global int *p = some[g % 3];
  if (p) atomic_add(p, p == out ? 1 : 2);
  volatile global int *q = g & 1 ? out + 15 : other + 3;
  atomic_inc(q);
  atomic_max(g & 2 ? out + 14 : other, g);
  int was = atomic_cmpxchg(g == 7 ? out + 13 : other + 2, 0, 5);
  if (g == 7) other[1] = was;
}

typedef struct {
  uint skip, hits;
  float add;
} header;

kernel void bytes(global void *p, global const int *in, global float *out) {
  int g = get_global_id(0);
  global header *h = p;
  atomic_inc(&h->hits);
  global float *f = (global float *)((global char *)p + sizeof(header) + sizeof(float) * h->skip);
  global const void *behind = (global const char *)in + 4;
  out[g] = f[g] + h->add + *(global const int *)(behind + 8);
}

kernel void plain(global void *p, global float *out) {
  int g = get_global_id(0);
  out[g] = ((global float *)p)[g];
}
