// cl_khr_extended_bit_ops, compared with what they stand for.
// RUN: vyre run %s a=rand:4096:1 b=rand:4096:2 wrong=zeros:1 --grid 4096 --print wrong
// CHECK: 0:  0
kernel void fields(global const uint *a, global const uint *b, global int *wrong) {
  int i = get_global_id(0), bad = 0;
  uint x = a[i], y = b[i], at = i & 31, count = (i >> 5) % (33 - at);
  uint mask = count == 32 ? 0xffffffffu : ((1u << count) - 1);
  uint turned = 0;
  for (int k = 0; k < 32; k++) turned |= ((x >> k) & 1) << (31 - k);
  bad |= bit_reverse(x) != turned;
  bad |= bit_reverse((ushort)x) != (ushort)(bit_reverse(x & 0xffff) >> 16);
  bad |= bitfield_insert(x, y, at, count) != ((x & ~(mask << at)) | ((y & mask) << at));
  bad |= bitfield_extract_unsigned(x, at, count) != ((x >> at) & mask);
  int field = (x >> at) & mask;
  if (count && count < 32 && (field >> (count - 1)) & 1) field |= ~mask;
  bad |= bitfield_extract_signed(x, at, count) != field;
  if (bad) atomic_inc(wrong);
}
