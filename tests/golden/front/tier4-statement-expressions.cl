// Statements that are used as expressions.
// RUN: clcompare %s --grid 64 x=rand:64:-20:20 o=zeros:128
// CHECK: statements: ok
#define MAX(a, b)                                                                                  \
  ({                                                                                               \
    __typeof__(a) first = (a);                                                                     \
    __typeof__(b) second = (b);                                                                    \
    first > second ? first : second;                                                               \
  })
kernel void statements(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i];
  int4 v = ({
    int4 t = (int4)(n);
    for (int k = 0; k < 3; k++) {
      if (k == 1) continue;
      t.y += k;
    }
    t;
  });
  o[2 * i] = MAX(n++, MAX(3, v.y));
  o[2 * i + 1] = n > 0 && ({ n -= 2; n; }) > 3 ? n : -n;
  ({ o[2 * i + 1] += v.x; });
}
