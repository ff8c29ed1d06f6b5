// Pointers as numbers: alignment, differences, rounding up, round trips, choice of the object, null.
// RUN: vyre run %s:align x=iota:64 out=zeros:8 --grid 1 --print out
// CHECK: 0:  1  4  16  1  0  1  1  3
// RUN: vyre run %s:trip a=iota:32 b=iota:32 out=zeros:32 --grid 32 --print out
// CHECK: 0:  0  11  2  13  4  15  6  17
// CHECK-NEXT: 8:  8  19  10  21  12  23  14  25
// RUN: vyre run %s:kept x=iota:16 out=zeros:16 --grid 4 --workgroup 4 --print out
// CHECK: 0:  0  3  6  9
// RUN: vyre run %s:count out=zeros:4 --grid 100 --print out
// CHECK: 0:  0  0  100  0
// RUN: vyre run %s:parts out=zeros:4 --grid 1 --print out
// CHECK: 0:  4  8  16  1
// RUN: vyre check %s:foreign
// EXPECT-EXIT: 3
// CHECK: a number from elsewhere that becomes a pointer is not supported

kernel void align(global const float *x, global int *out) {
  private float own[4] = {1, 2, 3, 4};
  private float *p = own + 2;
  out[0] = ((ulong)x & 15) == 0;
  out[1] = (int)((uintptr_t)(x + 1) & 15);
  out[2] = (int)((size_t)(x + 8) - (size_t)(x + 4));
  out[3] = (size_t)x != 0;
  out[4] = (size_t)(global float *)0 != 0;
  out[5] = (ulong)(x + 3) > (ulong)x;
  out[6] = ((uint)(size_t)(x + 4) % 16) == 0;
  out[7] = (int)*(private float *)((size_t)p);
}

// Which of two objects is known only when it runs; the address goes through a variable.
kernel void trip(global int *a, global int *b, global int *out) {
  int i = get_global_id(0);
  ulong at = (ulong)(i & 1 ? b : a);
  for (int k = 0; k < i; k++) at += sizeof(int);
  global int *p = (global int *)at;
  out[i] = *p + (((ulong)p & ~7ul) == at ? 0 : i & 1 ? 10 : 0);
}

kernel void kept(global const int *x, global int *out) {
  local ulong places[4];
  int i = get_local_id(0);
  places[i] = (ulong)(x + 3 * i);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = *(global const int *)places[i];
}

kernel void count(global int *out) {
  ulong at = (ulong)out + 8;
  atomic_inc((volatile global int *)at);
}

typedef struct {
  char c;
  int i;
  double d;
  char last;
} record;
kernel void parts(global int *out) {
  out[0] = (int)(size_t) & ((record *)0)->i;
  out[1] = (int)(size_t) & ((record *)0)->d;
  out[2] = (int)__builtin_offsetof(record, last);
  out[3] = (global int *)0 == (global int *)(size_t)0;
}

kernel void foreign(global const ulong *x, global float *out) {
  out[0] = *(global float *)x[0];
}
