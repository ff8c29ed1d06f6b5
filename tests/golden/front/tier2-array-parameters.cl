// Parameters that are written as arrays are pointers: added to, counted on, chosen, dereferenced.
// RUN: clcompare %s:halves --grid 8 x=rand:64 y=zeros:64
// RUN: clcompare %s:kernel_array --grid 32 --workgroup 32 x=rand:32 y=zeros:32
// CHECK: halves: ok
// CHECK: kernel_array: ok
typedef struct {
  float2 at;
  float weight;
} point;
static void butterfly(float2 v[8]) {
  for (int i = 0; i < 4; i++) {
    float2 kept = *(v + i);
    *(v + i) = kept + *(&v[i + 4]);
    *(v + 4 + i) = kept - *(4 + v + i);
  }
}
static float walk(const float2 v[], int n, const float2 other[4]) {
  float s = 0;
  const float2 *end = v + n, *pick = n > 4 ? v + 1 : other;
  while (v != end) s += (v++)->x * 0.5f + (n & 1 ? v : other)->y;
  v -= 2;
  return s + v->x + (*pick).y + (v + 1 - 1)[0].y + pick[1].x + (float)(end - v);
}
static float weigh(point p[2], float by[2][2]) {
  (p + 1)->weight = p->weight + (*(p + 1)).at.y;
  by[1][0] += (*(by + 1))[1];
  return p[1].weight * (*by)[1] + **(by + 1);
}
kernel void halves(global const float2 *x, global float *y) {
  int i = get_global_id(0);
  float2 v[8];
  for (int k = 0; k < 8; k++) v[k] = x[i * 8 + k];
  butterfly(v);
  point p[2] = {{v[0], 1.0f}, {.at = v[1], .weight = 2.0f}};
  float by[2][2] = {{1, 2}, {v[2].x, v[3].y}};
  y[i * 8] = walk(v, 5 + (i & 1), v + 2);
  y[i * 8 + 1] = weigh(p, by) + by[1][0];
  for (int k = 2; k < 8; k++) y[i * 8 + k] = v[k].x + v[k].y;
}
kernel void kernel_array(global const float x[], global float y[32]) {
  local float t[32];
  int i = get_local_id(0);
  local float(*pairs)[2] = (local float(*)[2])t;
  t[i] = *(x + i);
  barrier(CLK_LOCAL_MEM_FENCE);
  *(y + i) = pairs[i / 2][1 - (i & 1)] + (x + 1)[-1];
}
