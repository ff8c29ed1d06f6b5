// What came with OpenCL C 2.0 and is read when 1.2 does not do: C11 atomics, generic pointers, linear
// ids, work_group_barrier, ctz.
// RUN: vyre run %s --grid 64 --workgroup 16 o=zeros:8 p=zeros:64 --print o --print p:8
// CHECK: 2016 64 63 7 5
// CHECK: 0 1 2 3 4 5 6 7
int twice(int *any) { return *any * 2; }
kernel void modern(global atomic_int *o, global int *p) {
  local int t[16];
  local atomic_uint count;
  int i = get_global_linear_id(), l = get_local_linear_id();
  atomic_fetch_add(&o[0], i);
  atomic_fetch_add_explicit(&o[1], 1, memory_order_relaxed, memory_scope_device);
  atomic_fetch_max(&o[2], i);
  if (i == 3) atomic_store(&o[3], 7);
  t[l] = i;
  int mine = i;
  if (l == 0) atomic_init(&count, 0u);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  atomic_fetch_or(&count, 1u << l);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  if (atomic_load(&count) == 0xffffu && i == 5) atomic_exchange(&o[4], ctz(32));
  p[i] = (twice(&t[l]) + twice(&mine)) / 4;
}
