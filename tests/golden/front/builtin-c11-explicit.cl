// The C11 atomics one by one, with and without an order; the values are written down, since the
// driver has no C11 atomics.
// RUN: vyre run %s:all --grid 1 o=0,10,10,10,12,12,12,5,10,10,10,12,12,12,5,7,7,1,1 old=zeros:20 --print o --print old
// RUN: vyre run %s:count --grid 64 o=zeros:2 --print o
// CHECK: 0: 3 7 3 10 8 15 7 9
// CHECK: 8: 7 3 10 8 15 7 9 9
// CHECK: 16: 7 5 1
// CHECK: 0: 0 10 10 10 12 12 12 5
// CHECK: 8: 10 10 10 12 12 12 5 1
// CHECK: 16: 7 0 7 9
// CHECK: 0: 64 2016
kernel void all(global atomic_int *o, global int *old) {
  atomic_init(&o[0], 3);
  old[1] = atomic_fetch_sub(&o[1], 3);
  old[2] = atomic_fetch_min(&o[2], 3);
  old[3] = atomic_fetch_max(&o[3], 3);
  old[4] = atomic_fetch_and(&o[4], 9);
  old[5] = atomic_fetch_or(&o[5], 3);
  old[6] = atomic_fetch_xor(&o[6], 11);
  old[7] = atomic_exchange(&o[7], 9);
  old[8] = atomic_fetch_sub_explicit(&o[8], 3, memory_order_relaxed);
  old[9] = atomic_fetch_min_explicit(&o[9], 3, memory_order_acquire);
  old[10] = atomic_fetch_max_explicit(&o[10], 3, memory_order_relaxed, memory_scope_work_group);
  old[11] = atomic_fetch_and_explicit(&o[11], 9, memory_order_acq_rel, memory_scope_device);
  old[12] = atomic_fetch_or_explicit(&o[12], 3, memory_order_relaxed);
  old[13] = atomic_fetch_xor_explicit(&o[13], 11, memory_order_seq_cst);
  old[14] = atomic_exchange_explicit(&o[14], 9, memory_order_release);
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
  int wanted = 7;
  old[15] = atomic_compare_exchange_strong(&o[15], &wanted, 9);
  old[16] = wanted;
  old[17] = atomic_compare_exchange_weak_explicit(&o[16], &(int){8}, 1, memory_order_relaxed,
                                                  memory_order_relaxed);
  wanted = 8;
  if (!atomic_compare_exchange_strong_explicit(&o[16], &wanted, 1, memory_order_acq_rel,
                                               memory_order_relaxed, memory_scope_device))
    old[18] = wanted;
  atomic_store_explicit(&o[17], 5, memory_order_release);
  old[19] = atomic_load_explicit(&o[15], memory_order_acquire);
}
// Adds by comparing and exchanging.
kernel void count(global atomic_int *o) {
  int seen = atomic_load(&o[0]);
  while (!atomic_compare_exchange_weak(&o[0], &seen, seen + 1)) {}
  if (get_enqueued_local_size(0) == 64) atomic_fetch_add(&o[1], (int)get_global_id(0));
}
