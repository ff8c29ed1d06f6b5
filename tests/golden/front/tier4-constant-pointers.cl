// A constant at file scope may be a pointer: to a part of another constant, to a text, or null. It is
// the same wherever it is reached first.
// RUN: clcompare %s --grid 16 x=rand:16:0:9 o=zeros:16
// CHECK: parts: ok
constant int numbers[6] = {3, 1, 4, 1, 5, 9};
constant int *constant middle = numbers + 2;
constant int *constant last = &numbers[5];
constant char *constant text = "constant";
constant int *constant nothing = 0;
int pick(int i) { return i & 1 ? middle[i & 3] : -middle[0]; }
kernel void parts(global const int *x, global int *o) {
  int i = get_global_id(0), sum = pick(x[i]);
  if (x[i] > 4) sum += *last;
  for (int k = 0; k < x[i]; k++) sum += text[k % 8];
  o[i] = nothing == 0 ? sum + text[1] + (int)(last - middle) : -1;
}
