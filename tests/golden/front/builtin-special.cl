// The numbers that macros stand for: infinities, NaN, the largest float.
// RUN: clcompare %s --grid 1 o=zeros:8 d=zeros:4
// CHECK: special: ok
kernel void special(global float *o, global double *d) {
  o[0] = INFINITY;
  o[1] = -INFINITY;
  o[2] = NAN;
  o[3] = HUGE_VALF;
  o[4] = MAXFLOAT;
  o[5] = nan(3u);
  o[6] = FLT_EPSILON;
  o[7] = M_PI_F;
  d[0] = HUGE_VAL;
  d[1] = NAN;
  d[2] = DBL_MAX;
  d[3] = M_SQRT1_2;
}
