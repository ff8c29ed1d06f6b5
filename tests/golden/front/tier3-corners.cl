// Odd corners of C that people do write: arrays behind typedefs and pointers to rows, enums and unions,
// packed and aligned structures, loops with every way out.
// RUN: clcompare %s:arrays --grid 62 in=rand:64 out=zeros:64 n=3
// RUN: clcompare %s:enums --grid 64 in=rand:64:0:1000 out=zeros:64
// RUN: clcompare %s:packed --grid 8 p=u8:bits:8 b=f32:rand:8 o=zeros:8
// RUN: clcompare %s:flow --grid 64 in=rand:64:1:1000 out=zeros:64 n=50
// CHECK: arrays: ok
// CHECK: enums: ok
// CHECK: packed: ok
// CHECK: flow: ok
typedef float real;
typedef real vec3_t[3];
#define SWAP(T, a, b) do { T tmp_ = (a); (a) = (b); (b) = tmp_; } while (0)
typedef enum { RED = 1, GREEN, BLUE = 7, LAST } color_t;
typedef union { uint u; float f; uchar c[4]; } word_t;
typedef struct __attribute__((packed)) { uchar tag; int value; short rest; } packed_t;
typedef struct { float4 pos; int2 cell; char name[3]; } __attribute__((aligned(32))) body_t;
static float norm2(const vec3_t v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }
static inline __attribute__((always_inline)) void scale(float *restrict v, const float s, const size_t n) {
  for (size_t i = 0; i < n; ++i, ++v) *v *= s;
}
__kernel void arrays(__global const float *in, __global float *out, const int n) {
  const size_t gid = get_global_id(0);
  vec3_t v = {in[gid], in[gid + 1], in[gid + 2]};
  scale(v, 2.0f, 3);
  float m[2][3] = {{1, 2, 3}, {v[0], v[1]}};
  SWAP(float, m[0][0], m[1][2]);
  float (*row)[3] = &m[1];
  float sum = 0;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) sum += m[i][j] * (*row)[j] + row[0][j] - row[-1][j];
  out[gid] = sum + norm2(v) + norm2(m[0]);
}
__kernel void enums(__global const int *in, __global int *out) {
  int i = get_global_id(0), r = 0;
  color_t c = (color_t)(in[i] & 7);
  switch (c) {
  case RED: r = 10; break;
  case GREEN:
    r = 20;
    // falls
  case BLUE: r += 30; break;
  case LAST: case 5: r = -1; break;
  default: r = c * LAST; break;
  }
  word_t w;
  w.f = (float)in[i];
  w.c[0] ^= 0x55;
  r += (int)(w.u >> 3) + w.c[3];
  out[i] = r, out[i] += sizeof(packed_t) + sizeof(body_t), (void)0;
}
__kernel void packed(__global packed_t *p, __global body_t *b, __global int *o) {
  int i = get_global_id(0);
  __global packed_t *q = &p[i];
  q->value += q->tag;
  q->rest = (short)(q->value * 3);
  packed_t copy = *q;
  copy.tag++;
  p[i].tag = copy.tag ^ (uchar)copy.rest;
  b[i].pos.xz = b[i].pos.wy * 2.0f;
  b[i].cell.s1 = convert_int_rte(b[i].pos.x);
  b[i].name[i % 3] = 'a' + i;
  o[i] = (int)((__global char *)&b[i].cell - (__global char *)b) + (int)(&p[i].rest - &p[i].rest);
}
__kernel void flow(__global const uint *in, __global uint *out, uint n) {
  uint i = get_global_id(0), x = in[i], steps = 0;
  do {
    if (!(x & 1)) { x >>= 1; continue; }
    if (x == 1) break;
    x = x * 3 + 1;
    for (uint k = 0;; k++) {
      if (k > 3 || (x & (1u << k))) break;
      if (k == 2) continue;
      steps += k;
    }
  } while (++steps < n);
  out[i] = steps ? x : ~0u;
  uint y = in[i];
  while (y --> 5) if (y % 7 == 3)  y -= 2;
  out[i] ^= y;
  for (int a = 0, b = 10; a < b; a += 2, b--) out[i] += a * b;
}
