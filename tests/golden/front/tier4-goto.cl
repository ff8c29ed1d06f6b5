// goto: out of loops, forward past declarations, backward, into loops and branches, two loops with
// one another's heads, out of inlined functions; case labels inside of a loop.
// RUN: clcompare %s:out_of_loops --grid 64 x=rand:64:0:40 o=zeros:128
// RUN: clcompare %s:forward --grid 64 x=rand:64:0:40 o=zeros:64
// RUN: clcompare %s:backward --grid 64 x=rand:64:0:40 o=zeros:64
// RUN: clcompare %s:into --grid 64 x=rand:64:0:40 o=zeros:128
// RUN: clcompare %s:irreducible --grid 64 x=rand:64:0:40 o=zeros:64
// RUN: clcompare %s:called --grid 64 x=rand:64:0:40 o=zeros:64
// RUN: clcompare %s:device --grid 64 x=rand:64:0:40 o=zeros:64
// RUN: clcompare %s:in_loop --grid 64 x=rand:64:0:40 o=zeros:64
// RUN: clcompare %s:in_switch --grid 64 x=rand:64:0:40 o=zeros:64
// RUN: clcompare %s:with_barrier --grid 64 --workgroup 32 x=rand:64:0:40 o=zeros:64
// CHECK: out_of_loops: ok
// CHECK: forward: ok
// CHECK: backward: ok
// CHECK: into: ok
// CHECK: irreducible: ok
// CHECK: called: ok
// CHECK: device: ok
// CHECK: in_loop: ok
// CHECK: in_switch: ok
// CHECK: with_barrier: ok
kernel void out_of_loops(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i], sum = 0, a, b = 0;
  for (a = 0; a < 10; a++) {
    for (b = 0; b < 10; b++) {
      sum += a * b;
      if (sum > n) goto found;
    }
    if (a == 7) goto none;
  }
  sum = -5;
found:
  o[2 * i] = sum;
none:
  o[2 * i + 1] = a * 100 + b;
}

kernel void forward(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i];
  int early = n * 2;
  if (n < 5) goto done;
  int k = n + 1;
  early += k;
  if (n < 20) goto done;
  {
    int k = n + 3;
    early += k;
    if (n < 30) goto middle;
    early *= 3;
  }
middle:
  early += 7;
done:
  k = early + 1;
  o[i] = k;
}

kernel void backward(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i], steps = 0;
again:;
  int half_way = n >> 1;
  n = n & 1 ? 3 * n + 1 : half_way;
  steps++;
  if (steps > 60) goto end;
  if (n > 1) goto again;
end:
  o[i] = steps;
}

kernel void into(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i], k = 3, sum = 0;
  if (n & 1) goto inside;
  for (k = 0; k < 6; k++) {
    sum += 10;
    if (k == n) continue;
  inside:
    sum += k;
    if (sum > 70) break;
  }
  o[2 * i] = sum;
  if (n > 20) goto other;
  if (n > 10) {
    sum += 1000;
  } else {
    sum += 2000;
  other:
    sum += 3000;
  }
  o[2 * i + 1] = sum;
}

kernel void irreducible(global const int *x, global int *o) {
  int i = get_global_id(0), a = x[i], b = 0;
  if (a & 2) goto second;
first:
  a -= 3;
  b += 1;
second:
  a -= 2;
  b += 10;
  if (a > 20) goto first;
  if (a > 0) goto second;
  o[i] = a * 1000 + b;
}

int search(int n) {
  int k = 0;
retry:
  for (int j = 0; j < 5; j++) {
    if (n == j) return k * 10 + j;
    if (n - j > 30) goto big;
  }
  n -= 5;
  k++;
  if (n >= 0) goto retry;
  return -1;
big:
  n -= 7;
  goto retry;
}

kernel void called(global const int *x, global int *o) {
  int i = get_global_id(0);
  o[i] = search(x[i]) + search(x[i] + 3) * 100;
}

kernel void device(global const int *x, global int *o) {
  int i = get_global_id(0), count = x[i] + 1, sum = 0, n = (count + 3) / 4;
  switch (count % 4) {
  case 0:
    do {
      sum += n;
    case 3:
      sum += 3;
    case 2:
      sum += 20;
    case 1:
      sum += 100;
    } while (--n > 0);
  }
  o[i] = sum;
}

kernel void in_loop(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i], sum = 0;
  for (int k = 0; k < 4; k++) {
    int tries = 0;
  once_more:
    sum += k + tries;
    if (++tries < n % 5) goto once_more;
    if (sum > 50) break;
    if (sum & 1) continue;
    sum += 1;
  }
  o[i] = sum;
}

kernel void in_switch(global const int *x, global int *o) {
  int i = get_global_id(0), n = x[i], r = 0;
  switch (n % 6) {
  case 0: r = 1; goto shared_end;
  case 1: r = 2; break;
  case 2:
    r = 3;
    if (n > 20) goto shared_end;
  case 3: r += 4; break;
  default:
  shared_end:
    r += 50;
    break;
  }
  o[i] = r;
}

kernel void with_barrier(global const int *x, global int *o) {
  local int t[32];
  int l = get_local_id(0), i = get_global_id(0), v = x[i];
  if (v > 20) goto skip;
  v += 100;
skip:
  t[l] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  o[i] = t[31 - l];
}
