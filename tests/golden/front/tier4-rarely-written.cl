// What C allows and few write: a switch without a block, loops without a condition that a goto
// leaves, parts of what a call returns, elements of picked components and of sums, initializers with
// braces left out around unions and texts, structures too large to be copied value by value.
// RUN: clcompare %s:copies --grid 3 x=iota:3600 o=zeros:3600
// RUN: clcompare %s:jumps --grid 32 o=zeros:64
// RUN: clcompare %s:parts --grid 16 o=zeros:128
// RUN: clcompare %s:lists --grid 4 o=zeros:64
// RUN: vyre run %s:jumps --grid 12 o=zeros:24 --print o:24
// RUN: vyre run %s:parts --grid 1 o=zeros:8 --print o:8
// CHECK: copies: ok
// CHECK: jumps: ok
// CHECK: parts: ok
// CHECK: lists: ok
// CHECK: 0: 21 23 23 22 22 106 106 106
// CHECK: 8: 106 106 106 106 -1 -1 -1 9
// CHECK: 16: -1 -1 -1 -1 -1 -1 -1 -1
// CHECK: 0: 3 7 10 2 5 33 1 4
struct big {
  int head;
  int many[1100];
};
kernel void copies(global const int *x, global int *o) {
  int i = get_global_id(0);
  global struct big *to = (global struct big *)o;
  global const struct big *from = (global const struct big *)x;
  to[i] = from[2 - i];
}
kernel void jumps(global int *o) {
  int i = get_global_id(0), n = 0, picked = -1;
  while (n < i) {
    n += 2;
    if (n == 6) goto out;
  }
  for (;;) {
    if (n > 20) goto done;
    n += 3;
  }
out:
  n += 100;
done:
  switch (i) case 3: picked = 9;
  o[i] = n;
  o[get_global_size(0) + i] = picked;
}
struct pair {
  int a, b[4];
};
union either {
  int i;
  float f;
};
struct pair two(int x) {
  struct pair p = {x, {x + 7, x + 8, x + 9, x + 10}};
  return p;
}
union either one(float x) {
  union either u;
  u.f = x;
  return u;
}
kernel void parts(global int *o) {
  int i = get_global_id(0);
  int4 v = (int4)(1, 2, 3, 4) + i;
  v.zw[1] = 33;
  o[8 * i] = two(i + 3).a;
  o[8 * i + 1] = two(i).b[i & 3];
  o[8 * i + 2] = two(i).b[3 - (i & 3)];
  o[8 * i + 3] = v.yx[0];
  o[8 * i + 4] = (v + 2)[2 - (i & 1)];
  o[8 * i + 5] = v.w;
  o[8 * i + 6] = one(1.0f + i).i == as_int(1.0f + i);
  o[8 * i + 7] = __extension__(i + 4);
}
struct mixed {
  union either u;
  char text[4];
  int n;
};
kernel void lists(global int *o) {
  int i = get_global_id(0);
  struct mixed all[3] = {i + 5, "ab", 6, {{i + 7}, {"cd"}, 8}, {.text = {"efg"}, .n = 9}};
  for (int k = 0; k < 3; k++) {
    global int *at = o + 16 * i + 5 * k;
    at[0] = all[k].u.i;
    for (int c = 0; c < 3; c++) at[1 + c] = all[k].text[c];
    at[4] = all[k].n;
  }
}
