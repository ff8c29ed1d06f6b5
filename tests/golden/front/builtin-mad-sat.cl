// mad_sat of 64 bits at its edges: the largest and smallest results, carries between the halves, and
// sums that come back into range.
// RUN: vyre run %s:signed_ones --grid 8 x=1,4611686018427387904,-4611686018427387904,9223372036854775807,-9223372036854775808,3037000500,-3037000500,4294967296 y=1,2,2,1,-1,3037000500,3037000500,4294967296 z=1,0,0,1,-1,0,0,-1 o=zeros:8 --print o
// RUN: vyre run %s:unsigned_ones --grid 4 x=4294967296,4294967295,18446744073709551615,2 y=4294967296,4294967297,1,3 z=0,1,1,4 o=zeros:4 --print o
// CHECK: 0: 2 9223372036854775807
// CHECK: 2: -9223372036854775808 9223372036854775807
// CHECK: 4: 9223372036854775807 9223372036854775807
// CHECK: 6: -9223372036854775808 9223372036854775807
// CHECK: 0: 18446744073709551615 18446744073709551615
// CHECK: 2: 18446744073709551615 10
kernel void signed_ones(global const long *x, global const long *y, global const long *z,
                        global long *o) {
  int i = get_global_id(0);
  o[i] = mad_sat(x[i], y[i], z[i]);
}
kernel void unsigned_ones(global const ulong *x, global const ulong *y, global const ulong *z,
                          global ulong *o) {
  int i = get_global_id(0);
  o[i] = mad_sat(x[i], y[i], z[i]);
}
