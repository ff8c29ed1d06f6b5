// printf: what was printed comes in the order of invocations, whatever ran first, on every backend.
// RUN: for b in ref cpu; do vyre run %s:lines x=0.5,1.5,-2,1e10 --grid 4,2 --backend $b --print x:1; done
// CHECK: 0,0: 0.50 |  7|7   |0x7|+7 c %
// CHECK-NEXT: 1,0: 1.50 |  6|6   |0x6|+6 d %
// CHECK-NEXT: 2,0: -2.00 |  5|5   |0x5|+5 e %
// CHECK-NEXT: 3,0: 10000000000.00 |  4|4   |0x4|+4 f %
// CHECK-NEXT: 0,1: 0.50 |  7|7   |0x7|+7 c %
// CHECK: 0,0: 0.50 |  7|7   |0x7|+7 c %
// CHECK: 3,1: 10000000000.00
// RUN: vyre run %s:kinds n=-3 l=-5000000000 h=0.5 --grid 1 --json
// CHECK: "printf": "1.0,2.0,3.0,4.0 fd,fe -3 4294967293 fffd -5000000000 text  ab 5.000000e-01 0x1p-1\n"
// RUN: vyre run %s:lines x=0.5,1.5,-2,1e10 --grid 4,2 printf=zeros:50 --print x:1
// CHECK: 0,0: 0.50
// CHECK: note: printf found no room for all of it.
// CHECK: Fix: add a word such as `printf=zeros:
// RUN: vyre convert %s:nested
// CHECK: buffer printf: u32[] readwrite
// RUN: vyre run %s:nested o=zeros:3 --grid 3 --print o
// CHECK: odd 1: 1
// CHECK-NEXT: twice: 2
// CHECK-NEXT: o: i32[3]
// RUN: vyre run %s:pointer o=zeros:4 --grid 1 --print o:1
// CHECK: 8, 0 and 0
// RUN: vyre check %s:structure
// EXPECT-EXIT: 3
// CHECK: error: what is neither a number nor a literal in printf is not supported.
// RUN: vyre check %s:computed
// EXPECT-EXIT: 3
// CHECK: error: printf with a format that is no literal is not supported.
kernel void lines(global const float *x) {
  int i = get_global_id(0), n = 7 - i;
  printf("%d,%d: %.2f |%3d|%-4d|%#x|%+d %c %%\n", i, (int)get_global_id(1), x[i], n, n, n, n, 'c' + i);
}

constant char title[] = "text";

kernel void kinds(int n, long l, half h) {
  printf("%2.1v4f %v2hhx %d %u %hx %ld %s %3.2s %e %a\n", (float4)(1, 2, 3, 4), (char2)(-3, -2), n, n, n, l,
         title, "abc", h, (float)h);
}

int twice(int x) {
  printf("twice: %d\n", 2 * x);
  return 2 * x;
}

kernel void nested(global int *o) {
  int i = get_global_id(0);
  if (i & 1) {
    printf("odd %d: " "%d\n", i, i * i);
    o[i] = twice(i);
  }
}

kernel void pointer(global int *o) {
  printf("%d, %p and %p\n", (int)((ulong)(o + 2) - (ulong)o), (global int *)0, (local int *)0);
}
typedef struct {
  int a;
} structure_type;
kernel void structure(global structure_type *o) { printf("%d\n", o[0]); }

kernel void computed(global int *o, constant char *format) { printf(format, o[0]); }
