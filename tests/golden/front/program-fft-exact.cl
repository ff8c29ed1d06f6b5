// 64 points in registers and local memory, 8 by 8, with the roots in a table: all operations are
// exact ones, so the driver's bits are ours. In double and, by an option, in single precision.
// RUN: clcompare %s --grid 16 --workgroup 8 data=rand:128 roots=rand:64:-1:1
// RUN: clcompare %s --options "-DREAL=float -DREAL2=float2" --grid 16 --workgroup 8 data=rand:128 roots=rand:64:-1:1
// CHECK: fft64: ok
// CHECK: fft64: ok
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifndef REAL
#define REAL double
#define REAL2 double2
#endif
#define TURN(v) (REAL2)((v).y, -(v).x)
#define PAIR(p, q)                                                                                 \
  {                                                                                                \
    REAL2 kept = *p;                                                                               \
    *p = kept + *q;                                                                                \
    *q = kept - *q;                                                                                \
  }
inline REAL2 times(REAL2 a, REAL2 b) { return (REAL2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
static void four(REAL2 *a, REAL2 *b, REAL2 *c, REAL2 *d) {
  PAIR(a, c);
  PAIR(b, d);
  *d = TURN(*d);
  PAIR(a, b);
  PAIR(c, d);
}
static void eight(REAL2 v[8]) {
  const REAL half_root = (REAL)0.70710678118654752440;
  for (int i = 0; i < 4; i++) PAIR((v + i), (&v[i + 4]));
  v[5] = half_root * times(v[5], (REAL2)(1, -1));
  v[6] = TURN(v[6]);
  v[7] = times(v[7], (REAL2)(-1, -1)) * half_root;
  four(v, v + 1, v + 2, v + 3);
  four(v + 4, v + 5, v + 6, v + 7);
}
constant uchar reversed[8] = {0, 4, 2, 6, 1, 5, 3, 7};
static void exchange(REAL2 *v, local REAL *to, int to_step, local REAL *from, int from_step) {
  for (int axis = 0; axis < 2; axis++) {
#pragma unroll
    for (int i = 0; i < 8; i++) to[i * to_step] = axis ? v[reversed[i]].y : v[reversed[i]].x;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 8; i++) {
      if (axis == 0) continue;
      v[i].y = from[i * from_step];
    }
    REAL kept[8];
    for (int i = 0; i < 8 && !axis; i++) kept[i] = from[i * from_step];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (axis) break;
    // The real parts are needed once more, in the old order, for the imaginary ones.
    for (int i = 0; i < 8; i++) to[i * to_step + 72 * 8] = kept[i];
  }
  for (int i = 0; i < 8; i++) v[i].x = to[i * to_step + 72 * 8];
}
kernel void fft64(global REAL2 *data, constant REAL2 *roots) {
  local REAL room[2 * 72 * 8];
  const int k = get_local_id(0);
  REAL2 v[8];
  global REAL2 *mine = data + get_group_id(0) * 64 + k;
  for (int i = 0; i < 8; i++) v[i] = mine[i * 8];
  eight(v);
  for (int i = 1; i < 8; i++) v[i] = times(v[i], roots[(reversed[i] * k) & 63]);
  exchange(v, room + k, 9, &room[k * 9], 1);
  eight(v);
  for (int i = 0; i < 8; i++) mine[i * 8] = v[reversed[i]];
}
