// Functions that call one another, with functions of subgroups in them: looked at once each.
// RUN: timeout 20 vyre check %s
// EXPECT-EXIT: 3
// CHECK: error: `f` calls itself.
// CHECK: Fix: write the recursion as a loop
int f(int n);
int g(int n) { return n < 2 ? n : f(n - 1) + f(n - 2) + g(n - 3) + g(n - 4); }
int f(int n) {
  if (n < 2) return sub_group_reduce_add(n);
  return g(n - 1) + g(n - 2) + f(n - 3) + f(n - 5);
}
kernel void a(global int *x) {
  if (x[0]) {
    x[1] = f(x[2]) + g(x[3]) + f(x[4]);
  }
}
