// A counter that is declared outside of its loop is none of the loop's business when nobody looks at
// it afterwards: the loop counts, break or not. Who looks gets what it was, also after a break.
// RUN: vyre convert %s:unused
// RUN: vyre run %s:used n=5 m=3 y=zeros:3 --grid 1 --backend ref --print y
// RUN: vyre run %s:used n=2 m=3 y=zeros:3 --grid 1 --backend cpu --print y
// CHECK: for
// CHECK: break
// CHECK: for
// CHECK-NOT: while
// CHECK: 0: 3 5 8
// CHECK: 0: 2 2 5
kernel void unused(global int *y, int n) {
  int k;
  for (k = 0; k < n; k++) {
    if (y[k] == 7) break;
    y[k] = k;
  }
  for (k = 3; k < n; k += 2) y[k] += k;
}
kernel void used(global int *y, int n, int m) {
  int k, j;
  for (k = 0; k < n; k++)
    if (k == m) break;
  y[0] = k;
  for (j = 0; j < n; j++) y[1]++;
  y[2] = k + j + (y[1] != j) * 100;
  if (n == 2) y[2]++;
}
