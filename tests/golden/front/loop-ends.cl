// Loops whose bound is the largest number of its type, or is next to it: one more than the bound does
// not exist. Upwards they run until something ends them, downwards above it they never run.
// RUN: vyre run %s:ends n=2147483647 m=4294967295 w=9223372036854775807 y=zeros:8 --grid 1 --backend ref --print y
// RUN: vyre run %s:ends n=2147483647 m=0 w=7 y=zeros:8 --grid 1 --backend ref --print y
// RUN: vyre run %s:ends n=12 m=7 w=9 y=zeros:8 --grid 1 --backend cpu --print y
// RUN: vyre run %s:ends n=3 m=4 w=-5 y=zeros:8 --grid 1 --backend cpu --print y
// CHECK: 0: 101 101 101 0 0 101 101 0
// CHECK: 0: 101 0 1 0 101 101 101 2
// CHECK: 0: 8 3 2 0 6 1 101 0
// CHECK: 0: 0 0 0 2 0 0 101 14
kernel void ends(global int *y, int n, uint m, long w) {
  int c = 0;
  for (int k = 5; k <= n; k++) {
    c++;
    if (c > 100) break;
  }
  y[0] = c;
  c = 0;
  for (uint k = 5; k <= m; k++) {
    c++;
    if (c > 100) break;
  }
  y[1] = c;
  c = 0;
  for (long k = 5; k <= w; k += 3) {
    c++;
    if (c > 100) break;
  }
  y[2] = c;
  c = 0;
  for (int k = 5; k > n; k--) {
    c++;
    if (c > 100) break;
  }
  y[3] = c;
  c = 0;
  for (int k = n - (int)m; k >= 0; k--) {
    c++;
    if (c > 100) break;
  }
  y[4] = c;
  c = 0;
  for (int k = n - 1 - (int)m; k > 3; k--) {
    c++;
    if (k < 0) c += 1000;
    if (c > 100) break;
  }
  y[5] = c;
  c = 0;
  for (int k = 0; k <= 2147483647; k++) {
    c++;
    if (c > 100) break;
  }
  y[6] = c;
  c = 0;
  for (long k = 9; k > w; k--) {
    c++;
    if (c > 100) break;
  }
  y[7] = c;
}
