// Strings as bytes: behind a pointer, in arrays and structures, with escapes, indexed by anything.
// RUN: clcompare %s:letters --grid 16 o=zeros:128
// CHECK: letters: ok
// RUN: vyre run %s:letters o=zeros:128 --grid 1 -p o:16
// CHECK: 0: 98 0 120 121 0 0 104 105
// CHECK-NEXT: 8: -1 65 0 66 0 4 1 7
constant char names[3][4] = {"ab", "xyz", {'q'}};
constant char word[] = "hi\xff\101\0B";
typedef struct {
  char name[4];
  int n;
} item;
int length_of(constant char *text) {
  int n = 0;
  while (text[n]) n++;
  return n;
}
kernel void letters(global char *o) {
  int i = get_global_id(0) % 4;
  constant char *text = "abcdefgh";
  item it = {"x", 7};
  char own[4] = "xy";
  own[i & 1] += i;
  global char *to = o + 8 * get_global_id(0);
  if (get_global_id(0) == 0) {
    o[0] = text[1], o[1] = it.name[1], o[2] = own[0], o[3] = own[1], o[4] = own[2], o[5] = own[3];
    for (int k = 0; k < 7; k++) o[6 + k] = word[k];
    o[13] = length_of(i ? "of" : "none"), o[14] = sizeof(names) / 12, o[15] = it.n;
    return;
  }
  if (get_global_id(0) == 1) return;
  to[0] = text[i], to[1] = it.name[i], to[2] = own[i & 3], to[3] = names[1][i];
  to[4] = "0123456789"[i + 3], to[5] = length_of(text), to[6] = length_of("of") + length_of("");
  to[7] = length_of(i & 1 ? text + 2 : names[0]);
}
