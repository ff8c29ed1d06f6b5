// Tiles in local memory: heat in several steps per launch with a halo that shrinks, where the loop
// ends by a break between barriers; LU of a block; alignment of two strings by waves.
// RUN: clcompare %s:heat --grid 40,40 steps=3 wide=24 high=24 rate=0.2 source=rand:576:0:1 from=rand:576:0:100 to=zeros:576
// RUN: clcompare %s:heat --grid 8,8 steps=0 wide=24 high=24 rate=0.2 source=rand:576:0:1 from=rand:576:0:100 to=zeros:576
// RUN: clcompare %s:lu_block --grid 16 --workgroup 16 m=rand:1024:1:9 t=local:1024 pitch=32 first=16
// RUN: clcompare %s:align --grid 48 a=rand:48:0:4 b=rand:48:0:4 gap=2 score=zeros:867
// CHECK: heat: ok
// CHECK: heat: ok
// CHECK: lu_block: ok
// CHECK: align: ok
#define SIDE 8
#define BETWEEN(v, lo, hi) ((v) >= (lo) && (v) <= (hi))

kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1))) void
heat(int steps, int wide, int high, float rate, global const float *restrict source,
     global const float *restrict from, global float *restrict to) {
  local float now[SIDE][SIDE], next[SIDE][SIDE];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int inner = SIDE - 2 * steps;
  const int x = (int)get_group_id(0) * inner + lx - steps, y = (int)get_group_id(1) * inner + ly - steps;
  bool inside = BETWEEN(x, 0, wide - 1) && BETWEEN(y, 0, high - 1), is_new = false;
  if (inside) now[ly][lx] = from[y * wide + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  int left = x > 0 ? lx - 1 : lx, right = x < wide - 1 ? lx + 1 : lx;
  int up = y > 0 ? ly - 1 : ly, down = y < high - 1 ? ly + 1 : ly;
  for (int i = 0; i < steps; i++) {
    is_new = false;
    if (inside && BETWEEN(lx, i + 1, SIDE - i - 2) && BETWEEN(ly, i + 1, SIDE - i - 2)) {
      is_new = true;
      float here = now[ly][lx];
      next[ly][lx] = here + rate * (now[ly][left] + now[ly][right] + now[up][lx] + now[down][lx] -
                                    4.0f * here + source[y * wide + x]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == steps - 1) break;
    if (is_new) now[ly][lx] = next[ly][lx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (is_new) to[y * wide + x] = next[ly][lx];
}

kernel void lu_block(global float *m, local float *t, int pitch, int first) {
  int k = get_local_id(0), n = get_local_size(0), row, i;
  global float *corner = m + first * pitch + first;
  for (row = 0; row < n; row++) t[row * n + k] = corner[row * pitch + k];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (i = 0; i < n - 1; i++) {
    if (k > i) {
      for (int j = 0; j < i; j++) t[k * n + i] -= t[k * n + j] * t[j * n + i];
      t[k * n + i] /= t[i * n + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k > i)
      for (int j = 0; j <= i; j++) t[(i + 1) * n + k] -= t[(i + 1) * n + j] * t[j * n + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (row = 1; row < n; row++) corner[row * pitch + k] = t[row * n + k];
}

#define LENGTH 16
#define AT(i, j) (table[(i) * (LENGTH + 1) + (j)])
int best_of(int diagonal, int above, int before) {
  int best;
  if (diagonal >= above)
    best = diagonal;
  else
    best = above;
  return before > best ? before : best;
}
kernel __attribute__((reqd_work_group_size(LENGTH, 1, 1))) void
align(global const int *a, global const int *b, int gap, global int *score) {
  local int table[(LENGTH + 1) * (LENGTH + 1)], word[LENGTH];
  const int k = get_local_id(0), pair = get_group_id(0);
  word[k] = b[pair * LENGTH + k];
  AT(k + 1, 0) = -gap * (k + 1);
  AT(0, k + 1) = -gap * (k + 1);
  if (!k) AT(0, 0) = 0;
  const int letter = a[pair * LENGTH + k];
  for (int wave = 0; wave < 2 * LENGTH - 1; wave++) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const int j = wave - k;
    if (j < 0 || j >= LENGTH) continue;
    AT(k + 1, j + 1) = best_of(AT(k, j) + (letter == word[j] ? 3 : -1), AT(k, j + 1) - gap,
                               AT(k + 1, j) - gap);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = k; i < (LENGTH + 1) * (LENGTH + 1); i += LENGTH)
    score[pair * (LENGTH + 1) * (LENGTH + 1) + i] = table[i];
}
