// Local memory and private arrays of more than 64 KiB: 160,000 bytes each. The machine's OpenCL has no
// room for the private one, and says so.
// RUN: for b in ref cpu c; do vyre run %s:in_local o=zeros:64 --grid 64 --workgroup 64 --backend $b -p o:4; done
// CHECK: 0: 39999 39998 39997 39996
// CHECK: 0: 39999 39998 39997 39996
// CHECK: 0: 39999 39998 39997 39996
// RUN: for b in ref cpu c; do vyre run %s:in_private x=iota:200 o=zeros:200 --grid 200 --backend $b -p o:4; done
// CHECK: 0: 39999 39998 39997 39996
// CHECK: 0: 39999 39998 39997 39996
// CHECK: 0: 39999 39998 39997 39996
// RUN: vyre run %s:in_private x=iota:200 o=zeros:200 --grid 200 --backend opencl
// EXPECT-EXIT: 3
// CHECK: has room for 65536 bytes of private arrays, region `in_private` needs 160000
// RUN: for b in ref cpu c; do vyre run %s:across x=iota:64 o=zeros:64 --grid 64 --workgroup 32 --backend $b -p o:4; done
// CHECK: 0: 190 228 266 304
// CHECK: 0: 190 228 266 304
// CHECK: 0: 190 228 266 304
kernel void in_local(global int *o) {
  local int t[40000];
  int l = get_local_id(0);
  for (int k = l; k < 40000; k += 64) t[k] = k;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[get_global_id(0)] = t[39999 - l];
}
kernel void in_private(global const int *x, global int *o) {
  int t[40000], i = get_global_id(0);
  for (int k = 0; k < 40000; k++) t[k] = x[i] * 0 + k;
  o[i] = t[39999 - x[i]];
}
kernel void across(global const int *x, global int *o) {
  int t[20000], l = get_local_id(0), i = get_global_id(0);
  local int s[32];
  for (int k = 0; k < 20000; k += 1000) t[k + l] = x[i] * 2 + k / 1000;
  s[l] = t[3000 + l];
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0;
  for (int k = 0; k < 20000; k += 1000) sum += t[k + l];
  o[i] = sum + s[31 - l] - s[31];
}
