// Floats added by compare and exchange, kernels that call kernels, structures with pointers, pointers
// that change places, the last workgroup, vector conditions.
// RUN: clcompare %s:histogram_f --grid 64 bin=rand:64:0:8 w=fill:64:0.5 h=zeros:8
// RUN: clcompare %s:outer --grid 64 o=iota:64 v=3
// RUN: clcompare %s:views --grid 16,8 a=rand:256 o=zeros:256 t=local:256 use=1
// RUN: clcompare %s:views --grid 16,8 a=rand:256 o=zeros:256 t=local:256 use=0
// RUN: clcompare %s:ping_pong --grid 32 --workgroup 32 a=rand:32 b=zeros:32 n=32 steps=5
// RUN: clcompare %s:last_group --grid 256 --workgroup 32 in=rand:256 partial=zeros:8 count=zeros:1 out=zeros:1
// RUN: clcompare %s:ternaries --grid 32 a=rand:32 o=zeros:64 q=rand:32:0:9
// CHECK: histogram_f: ok
// CHECK: outer: ok
// CHECK: views: ok
// CHECK: views: ok
// CHECK: ping_pong: ok
// CHECK: last_group: ok
// CHECK: ternaries: ok
inline void atomic_add_float(volatile __global float *source, const float operand) {
  union { unsigned int intVal; float floatVal; } newVal, prevVal;
  do {
    prevVal.floatVal = *source;
    newVal.floatVal = prevVal.floatVal + operand;
  } while (atomic_cmpxchg((volatile __global unsigned int *)source, prevVal.intVal, newVal.intVal) !=
           prevVal.intVal);
}
__kernel void histogram_f(__global const int *bin, __global const float *w, volatile __global float *h) {
  int i = get_global_id(0);
  atomic_add_float(&h[bin[i]], w[i]);
}
__kernel void inner(__global int *o, int v) { o[get_global_id(0)] += v * 2; }
__kernel void outer(__global int *o, int v) {
  inner(o, v);
  inner(o + 0, v + 1);
  o[get_global_id(0)]++;
}
typedef struct { __local float *tile; __global const float *src; int pitch; } view_t;
float fetch(const view_t *v, int y, int x) { return v->tile ? v->tile[y * v->pitch + x] : v->src[y * v->pitch + x]; }
__kernel __attribute__((reqd_work_group_size(8, 8, 1))) void views(__global const float *a, __global float *o, __local float *t, int use) {
  int x = get_local_id(0), y = get_local_id(1);
  size_t g = get_global_id(1) * get_global_size(0) + get_global_id(0);
  t[y * 8 + x] = a[g] * 3.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  view_t v = {NULL, a, (int)get_global_size(0)};
  if (use & 1) { v.tile = t; v.pitch = 8; }
  float s = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) s += fetch(&v, clamp(y + dy, 0, 7), clamp(x + dx, 0, 7));
  o[g] = s;
}
__kernel void ping_pong(__global float *a, __global float *b, int n, int steps) {
  __global float *src = a, *dst = b;
  int i = get_local_id(0);
  for (int s = 0; s < steps; s++) {
    float l = i > 0 ? src[i - 1] : 0.f, r = i + 1 < n ? src[i + 1] : 0.f;
    dst[i] = .5f * src[i] + .25f * (l + r);
    __global float *t = src; src = dst; dst = t;
    barrier(CLK_GLOBAL_MEM_FENCE);
  }
  if (src != a) a[i] = src[i];
}
__kernel void last_group(__global const int *in, __global int *partial, __global volatile uint *count, __global int *out) {
  __local int t[32];
  __local bool is_last;
  uint l = get_local_id(0);
  t[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = 16; s; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(CLK_LOCAL_MEM_FENCE); }
  if (!l) {
    partial[get_group_id(0)] = t[0];
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    is_last = atomic_inc(count) == get_num_groups(0) - 1;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (is_last && l == 0) { int s = 0; for (uint g = 0; g < get_num_groups(0); g++) s += partial[g]; *out = s; }
}
__kernel void ternaries(__global const float4 *a, __global float4 *o, __global int4 *q) {
  int i = get_global_id(0);
  float4 v = a[i];
  int4 m = v > (float4)(0.0f);
  o[2 * i] = m ? v : -v;
  o[2 * i + 1] = select(v.wzyx, (float4)(1, 2, 3, 4), isless(v, v.yxwz));
  q[i] = (m && (q[i] != 0)) | !(q[i] >= 3) | (int4)(any(m), all(m), -(v.x < v.y), v.z == v.z);
  int k = 5;
  k = i ? (k = 2, k + 1) : k--;
  q[i].w += k;
  q[i] <<= (int4)(1, 33, 2, 31);
  char c = (char)i; c += 200; uchar u = c; short s = u * u * 3; c = -c;
  q[i].x ^= c ^ u ^ s ^ (c >> 2) ^ (u << 9) ^ (1 ? -1 : 1u) ^ ('\x7f' * 2);
}
