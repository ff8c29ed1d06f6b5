// A pointer as a number: aligned as its type, equal for equal pointers, zero for null only, and it
// counts bytes. Which number it is says nothing.
// RUN: vyre run %s r=zeros:10 f=zeros:8 t=local:64 --grid 2 --workgroup 2 --print r
// CHECK: 0:   0   0   0   1   1  12   1   1
// CHECK-NEXT: 8:   8   0
kernel void k(global ulong *r, global float *f, local float4 *t) {
  local double8 wide[2];
  private int2 pair[3];
  int i = get_global_id(0);
  pair[i].x = i;
  if (i) return;
  float4 *none = 0;
  global float *either = r[9] ? f : f + 2;
  r[0] = (ulong)f % 16;
  r[1] = (ulong)&wide[1] % 64 + (ulong)t % 16;
  r[2] = (ulong)&pair[pair[i].x + 1] % 8 + (ulong)none;
  r[3] = (ulong)f != (ulong)r && (uint)(ulong)f != 0;
  r[4] = (ulong)(f + i) == (ulong)f;
  r[5] = (ulong)(f + 3) - (ulong)f;
  r[6] = (ulong)t != 0;
  r[7] = (ulong)&wide[0] != (ulong)t;
  r[8] = (ulong)either - (ulong)f;
}
