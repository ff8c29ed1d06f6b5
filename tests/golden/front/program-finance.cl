// Finance and statistics: option prices, a random walk with its own generator, clusters, regression.
// RUN: clcompare %s:black_scholes --grid 256 --ulp 4096 s=rand:256:10:100 x=rand:256:10:100 t=rand:256:0.2:5 r=0.02 v=0.3 call=zeros:256 put=zeros:256
// RUN: clcompare %s:walk --grid 64 steps=50 seed=7 o=zeros:64
// RUN: clcompare %s:nearest --grid 100 k=5 d=3 x=rand:300 c=rand:15 o=zeros:100
// CHECK: black_scholes: ok
// CHECK: walk: ok
// CHECK: nearest: ok
float normal(float d) {
  const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f,
              a5 = 1.330274429f;
  float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  float c = 0.39894228040143f * exp(-0.5f * d * d) *
            (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
  return d > 0 ? 1.0f - c : c;
}
kernel void black_scholes(global const float *s, global const float *x, global const float *t,
                          float r, float v, global float *call, global float *put) {
  int i = get_global_id(0);
  float root = sqrt(t[i]);
  float d1 = (log(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * root), d2 = d1 - v * root;
  float n1 = normal(d1), n2 = normal(d2), e = exp(-r * t[i]);
  call[i] = 100.0f + s[i] * n1 - x[i] * e * n2;
  put[i] = 100.0f + x[i] * e * (1.0f - n2) - s[i] * (1.0f - n1);
}
typedef struct {
  ulong s[2];
} generator;
ulong draw(generator *g) {
  ulong a = g->s[0], b = g->s[1];
  g->s[0] = b;
  a ^= a << 23;
  g->s[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
  return g->s[1] + b;
}
kernel void walk(int steps, ulong seed, global double *o) {
  generator g;
  g.s[0] = seed * 0x9e3779b97f4a7c15UL + get_global_id(0);
  g.s[1] = ~g.s[0];
  double at = 0;
  for (int i = 0; i < steps; i++) at += (double)(draw(&g) >> 11) * 0x1p-53 - 0.5;
  o[get_global_id(0)] = at;
}
kernel void nearest(int k, int d, global const float *x, global const float *c, global int *o) {
  int i = get_global_id(0), best = 0;
  float least = FLT_MAX;
  for (int j = 0; j < k; j++) {
    float sum = 0;
    for (int n = 0; n < d; n++) {
      float way = x[i * d + n] - c[j * d + n];
      sum += way * way;
    }
    if (sum < least) {
      least = sum;
      best = j;
    }
  }
  o[i] = best;
}
