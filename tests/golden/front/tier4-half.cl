// half in buffers, structures, constants, local memory and arguments, beside the same with vload_half.
// RUN: vyre run %s:storage s=0.1 x=iota:256 y=zeros:64 z=zeros:64 m=zeros:640 wrong=zeros:1 --grid 64 --workgroup 64 --print wrong
// CHECK: 0:  0
// RUN: vyre convert %s:twice
// CHECK: program twice(grid_x: u32)
// CHECK-NEXT: buffer x: f16[] read
// CHECK-NEXT: buffer y: f32[] write
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef struct {
  half a;
  float b;
  half2 c;
  half d[3];
} record;
constant half table[4] = {1.0h, (half)0.1f, -2, 65504.0h};
half sum(half x, half4 v) { return x + v.x + v.w; }
float read(global const half *p, int i) { return vload_half(i, p); }

kernel void storage(half s, global const half *x, global half *y, global half *z,
                    global record *m, global int *wrong) {
  int i = get_global_id(0), l = get_local_id(0), bad = 0;
  local half t[64];
  local record own;
  global const half *at = x + 4 * i;
  half4 v = vload4(i, x);
  t[63 - l] = x[i];
  if (l == 0) {
    own.a = s;
    own.c = (half2)(3, 4);
    own.d[2] = table[1];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  vstore_half((float)read(x, 4 * i) + read(x, 4 * i + 1), i, z);
  y[i] = at[0] + v.y;
  bad |= as_ushort(y[i]) != as_ushort(z[i]);
  m[i] = own;
  m[i].d[i % 3] = t[l];
  m[i].b = sum(v.z, v);
  bad |= as_ushort(m[i].d[i % 3]) != as_ushort(x[63 - i]) || as_ushort(m[i].a) != 0x2e66;
  bad |= m[i].c.y != 4 || m[i].b != (float)sum(at[2], (half4)(at[0], 0, 0, at[3]));
  bad |= i % 3 != 2 && as_ushort(m[i].d[2]) != 0x2e66;
  bad |= as_ushort(table[i & 3]) != (i & 2 ? (i & 1 ? 0x7bff : 0xc000) : (i & 1 ? 0x2e66 : 0x3c00));
  if (bad) atomic_inc(wrong);
}

kernel void twice(global const half *x, global float *y) {
  y[get_global_id(0)] = x[get_global_id(0)] * 2;
}
