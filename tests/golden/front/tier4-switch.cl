// switch: falling through, default in the middle, breaks under conditions, returns, loops inside.
// RUN: clcompare %s:plain --grid 64 x=rand:64:-2:12 o=zeros:256
// RUN: clcompare %s:tricky --grid 64 x=rand:64:0:10 o=zeros:64
// CHECK: plain: ok
// CHECK: tricky: ok
int pick(int v) {
  switch (v) {
  case 0: return 10;
  case 1:
  case 2: return 20;
  default: break;
  }
  return 30;
}
kernel void plain(global const int *x, global int *o) {
  int i = get_global_id(0), v = x[i], r = 0;
  switch (v) {
  case 1: r = 5; break;
  case 2:
  case 3: r = 6;
  case 4: r += 100; break;
  default: r = -1; break;
  case 7: {
    int t = v * 2;
    r = t;
    break;
  }
  case -2: r = 9;
  }
  o[4 * i] = r;
  o[4 * i + 1] = pick(v);
  switch (v & 3) {
  case 0: r = 1;
  }
  o[4 * i + 2] = r;
  switch ((char)v) {
  case 'a': r = 3; break;
  case 5: r = 4; break;
  }
  o[4 * i + 3] = r;
}
kernel void tricky(global const int *x, global int *o) {
  int i = get_global_id(0), v = x[i], s = 0;
  for (int k = 0; k < 6; k++) {
    switch ((v + k) % 7) {
    case 0:
      if (k > 3) break;
      s += 1;
    case 1:
      for (int j = 0; j < 4; j++) {
        if (j == v) break;
        s += 10;
      }
    case 2: s += 100; continue;
    case 3:
      if (v > 5) {
        s += 7;
        break;
      }
      s -= 3;
      break;
    default: {
      int only = s & 15;
      s += only;
    }
    }
    s++;
    if (s > 2000) break;
  }
  o[i] = s;
}
