// A buffer cannot hold pointers: the host could not fill it.
// RUN: vyre check %s
// EXPECT-EXIT: 3
// CHECK: error-pointer-in-buffer.cl:12:33: error: a pointer that is kept in a buffer is not supported.
// CHECK-NEXT: kernel void k(global node *o) { o[0].next = o + 1; }
// CHECK-NEXT: ^
// CHECK-NEXT: Fix: keep offsets in the buffer, and add them to a pointer argument
typedef struct node {
  int value;
  global struct node *next;
} node;
kernel void k(global node *o) { o[0].next = o + 1; }
