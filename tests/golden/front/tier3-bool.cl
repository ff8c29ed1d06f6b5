// bool: in variables, arrays, conditions that are evaluated in part, and turned into numbers.
// RUN: clcompare %s --grid 64 x=rand:64:-8:8 o=zeros:512
// CHECK: truth: ok
bool both(int *count, bool v) {
  ++*count;
  return v;
}
kernel void truth(global const int *x, global int *o) {
  int i = get_global_id(0), v = x[i], count = 0;
  global int *p = o + 8 * i;
  bool a = v > 2, b = v & 1, c = (bool)v;
  p[0] = a + 2 * b + 4 * c;
  p[1] = a && both(&count, b) || both(&count, c);
  p[2] = count;
  bool flags[4] = {a, b, c, !a};
  flags[v & 3] = true;
  p[3] = flags[0] + flags[1] * 2 + flags[2] * 4 + flags[3] * 8;
  p[4] = !v + !!v * 2 + (v == !v);
  p[5] = a ? b ? 1 : 2 : c ? 3 : 4;
  bool d = 0.5f;
  d = d ^ a;
  p[6] = d;
  p[7] = (v && i) + (v || i) * 2 + (a == b);
}
