// What `vyre convert` prints is what a person would have written: names are kept, nothing is left
// over.
// RUN: for k in saxpy sum walk limit advance wave; do vyre convert %s:$k; done
kernel void saxpy(float a, global const float *x, global float *y, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}

kernel void sum(global const float *x, global float *y) {
  local float t[128];
  uint i = get_local_id(0);
  t[i] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint s = get_local_size(0) / 2; s > 0; s >>= 1) {
    if (i < s) t[i] += t[i + s];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i == 0) y[get_group_id(0)] = t[0];
}

kernel void walk(int n, global const float *m, global float *o) {
  int row = get_global_id(0), k;
  global const float *p = m + row * n;
  float best = -INFINITY;
  for (k = 0; k < n; k++) best = fmax(best, p[k]);
  o[row] = best;
}

float limited(float v, float most) {
  if (v > most) return most;
  if (v < -most) return -most;
  return v;
}
kernel void limit(float most, global float *x) {
  int i = get_global_id(0);
  x[i] = limited(x[i], most);
}

typedef struct {
  float2 at, speed;
  int hits;
} ball;
kernel void advance(global ball *balls, float dt) {
  global ball *b = balls + get_global_id(0);
  float2 next = b->at + b->speed * dt;
  if (next.y < 0.0f) {
    next.y = -next.y;
    b->speed.y = -b->speed.y;
    b->hits++;
  }
  b->at = next;
}

kernel void wave(global const float4 *in, global float4 *out) {
  int i = get_global_id(0);
  const float4 a = in[i], b = in[i + 1];
  out[i] = (a + b) * 0.5f;
}
