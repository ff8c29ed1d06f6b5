// cl_ext_float_atomics and the C11 functions on atomic_float and atomic_double.
// RUN: for b in ref cpu c opencl; do vyre run %s:floats x=iota:64 o=zeros:8 d=zeros:4 --grid 64 --workgroup 16 --backend $b -p o -p d; done
// CHECK: o: f32[8]
// CHECK-NEXT: 0: 2016 -2016 -63 63 2.5 480 1 7
// CHECK-NEXT: d: f64[4]
// CHECK-NEXT: 0: 1008 -1 63 4
// CHECK: 0: 2016 -2016 -63 63 2.5 480 1 7
// CHECK: 0: 1008 -1 63 4
// CHECK: 0: 2016 -2016 -63 63 2.5 480 1 7
// CHECK: 0: 1008 -1 63 4
// CHECK: 0: 2016 -2016 -63 63 2.5 480 1 7
// CHECK: 0: 1008 -1 63 4
#ifndef cl_ext_float_atomics
#error "the extension is there"
#endif
kernel void floats(global const float *x, global atomic_float *o, global atomic_double *d) {
  local atomic_float sum;
  float v = x[get_global_id(0)];
  int l = get_local_id(0);
  if (l == 0) atomic_init(&sum, 0.0f);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  atomic_fetch_add_explicit(&o[0], v, memory_order_relaxed, memory_scope_device);
  atomic_fetch_sub_explicit(&o[1], v, memory_order_relaxed);
  atomic_fetch_min(&o[2], -v);
  atomic_fetch_max_explicit(&o[3], v, memory_order_relaxed, memory_scope_device);
  if (v == 5) atomic_store(&o[4], 2.5f);
  atomic_fetch_add(&sum, v);
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  if (l == 0 && v == 32) atomic_exchange(&o[5], atomic_load(&sum) - 152 );
  if (v == 7) {
    float expected = 1;
    if (!atomic_compare_exchange_strong(&o[7], &expected, 3.0f) && expected == 0) {
      atomic_fetch_add(&o[6], 1.0f);
      if (atomic_compare_exchange_strong(&o[7], &expected, v)) atomic_fetch_add(&d[3], 4.0);
    }
  }
  atomic_fetch_add(&d[0], (double)v / 2);
  atomic_fetch_min(&d[1], v - 1.0);
  atomic_fetch_max(&d[2], v);
}
