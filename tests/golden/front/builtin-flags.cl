// atomic_flag: of all that set a flag, one finds it clear.
// RUN: vyre run %s flags=zeros:4 firsts=zeros:4 --grid 256 --print flags --print firsts
// CHECK: 0:  0  1  0  1
// CHECK: 0:  1  1  1  1
kernel void flags(volatile global atomic_int *flags, global int *firsts) {
  volatile global atomic_flag *f = (volatile global atomic_flag *)flags;
  if (!atomic_flag_test_and_set(f)) firsts[0] = 1;
  if (!atomic_flag_test_and_set(f + 1)) atomic_inc((volatile global int *)firsts + 1);
  if (!atomic_flag_test_and_set_explicit(f + 2, memory_order_acquire)) firsts[2] = 1;
  if (!atomic_flag_test_and_set_explicit(f + 3, memory_order_acq_rel, memory_scope_device))
    atomic_inc((volatile global int *)firsts + 3);
  barrier(CLK_GLOBAL_MEM_FENCE);
  atomic_flag_clear(f);
  atomic_flag_clear_explicit(f + 2, memory_order_release);
}
