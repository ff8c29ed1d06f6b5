// Dynamic programming: an edit distance along diagonals in local memory, a path through a grid, a
// knapsack row.
// RUN: clcompare %s:align --grid 16 --workgroup 16 a=rand:16:0:4 b=rand:16:0:4 penalty=2 score=zeros:289
// RUN: clcompare %s:path --grid 128 --workgroup 64 cols=128 rows=6 wall=rand:768:0:10 o=zeros:128
// RUN: clcompare %s:knapsack --grid 101 weight=7 worth=11 old=rand:101:0:50 new=zeros:101
// CHECK: align: ok
// CHECK: path: ok
// CHECK: knapsack: ok
#define N 16
int best_of(int a, int b, int c) { return max(max(a, b), c); }
kernel void align(global const char *a, global const char *b, int penalty, global int *score) {
  local int t[N + 1][N + 1];
  int i = get_local_id(0);
  t[i + 1][0] = -penalty * (i + 1);
  t[0][i + 1] = -penalty * (i + 1);
  if (i == 0) t[0][0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 0; d < 2 * N - 1; d++) {
    int y = i, x = d - i;
    if (x >= 0 && x < N) {
      int match = a[y] == b[x] ? 3 : -1;
      t[y + 1][x + 1] = best_of(t[y][x] + match, t[y][x + 1] - penalty, t[y + 1][x] - penalty);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int x = 0; x <= N; x++) {
    score[(i + 1) * (N + 1) + x] = t[i + 1][x];
    if (i == 0) score[x] = t[0][x];
  }
}
kernel void path(int cols, int rows, global const int *wall, global int *o) {
  local int now[64], next[64];
  int l = get_local_id(0), c = get_global_id(0);
  now[l] = wall[c];
  for (int r = 1; r < rows; r++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    int left = now[l > 0 ? l - 1 : 0], right = now[l < 63 ? l + 1 : 63];
    next[l] = min(min(left, right), now[l]) + wall[r * cols + c];
    barrier(CLK_LOCAL_MEM_FENCE);
    now[l] = next[l];
  }
  o[c] = now[l];
}
kernel void knapsack(int weight, int worth, global const int *old, global int *new) {
  int c = get_global_id(0);
  int v = old[c];
  if (c >= weight) v = max(v, old[c - weight] + worth);
  new[c] = v;
}
