// Members without a name, in structures and unions, several deep; designators that lead into them,
// and what follows a designator.
// RUN: clcompare %s:anonymous --grid 8 o=zeros:64 t=u8:bits:256
// RUN: clcompare %s:continued --grid 8 o=zeros:56
// CHECK: anonymous: ok
// CHECK: continued: ok
typedef struct {
  union {
    uint u;
    float f;
  };
  struct {
    int p, q;
  };
  union {
    uchar b[4];
    struct {
      ushort lo, hi;
    };
    int i;
  };
} parts;

kernel void anonymous(global uint *o, global parts *t) {
  int k = get_global_id(0);
  parts a = {.f = 2.5f, .q = k, .hi = 7};
  parts b = {{5}, {6, k}, {.i = 9}};
  parts c = t[k];
  o[k * 8] = a.u + a.q + a.b[2] + a.lo;
  o[k * 8 + 1] = b.u + b.p + b.q + b.i;
  o[k * 8 + 2] = c.u + c.p + c.q + c.b[k & 3] + c.hi;
  t[k].f = k * 0.5f;
  t[k].q = k;
  t[k].hi = k + 1;
  global parts *at = &t[k + 8];
  at->b[1] = k;
  at->p += at->hi;
}

typedef struct {
  struct {
    int a, b;
  } in;
  struct {
    int x, y;
  };
  int last[3];
} nested;

kernel void continued(global int *o) {
  nested n = {.in.a = 1, 2, .x = 3, 4, 5, .last[1] = 6, 7};
  int k = get_global_id(0) * 7;
  o[k] = n.in.a;
  o[k + 1] = n.in.b;
  o[k + 2] = n.x;
  o[k + 3] = n.y;
  o[k + 4] = n.last[0];
  o[k + 5] = n.last[1];
  o[k + 6] = n.last[2];
}
