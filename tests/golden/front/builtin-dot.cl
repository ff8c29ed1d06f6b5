// Products of four 8-bit integers, in vectors and packed, and with a sum that saturates. PoCL does
// not have them, so that each is compared with what it stands for.
// RUN: vyre run %s a=rand:4096:1 b=rand:4096:2 c=rand:4096:3 wrong=zeros:1 --grid 4096 --print wrong
// CHECK: 0:  0
int lane(uint x, int k, bool is_signed) {
  uint byte = (x >> (8 * k)) & 255;
  return is_signed ? (int)(char)byte : (int)byte;
}
long product(uint a, uint b, bool signed_a, bool signed_b) {
  long sum = 0;
  for (int k = 0; k < 4; k++) sum += (long)lane(a, k, signed_a) * lane(b, k, signed_b);
  return sum;
}
int limit(long x) { return x > INT_MAX ? INT_MAX : x < INT_MIN ? INT_MIN : (int)x; }
kernel void dots(global const uint *a, global const uint *b, global const uint *c,
                 global int *wrong) {
  int i = get_global_id(0), bad = 0;
  uint x = a[i], y = b[i], z = i & 1 ? c[i] : i & 2 ? INT_MAX - (c[i] & 0xffff) : 0x80000000u + (c[i] & 0xffff);
  int s = (int)z;
  bad |= dot(as_uchar4(x), as_uchar4(y)) != (uint)product(x, y, false, false);
  bad |= dot(as_char4(x), as_char4(y)) != product(x, y, true, true);
  bad |= dot(as_uchar4(x), as_char4(y)) != product(x, y, false, true);
  bad |= dot(as_char4(x), as_uchar4(y)) != product(x, y, true, false);
  bad |= dot_4x8packed_uu_uint(x, y) != (uint)product(x, y, false, false);
  bad |= dot_4x8packed_ss_int(x, y) != product(x, y, true, true);
  bad |= dot_4x8packed_us_int(x, y) != product(x, y, false, true);
  bad |= dot_4x8packed_su_int(x, y) != product(x, y, true, false);
  ulong wide = (ulong)z + (ulong)product(x, y, false, false);
  uint high = wide > UINT_MAX ? UINT_MAX : (uint)wide;
  bad |= dot_acc_sat(as_uchar4(x), as_uchar4(y), z) != high;
  bad |= dot_acc_sat(as_char4(x), as_char4(y), s) != limit(s + product(x, y, true, true));
  bad |= dot_acc_sat_4x8packed_uu_uint(x, y, z) != high;
  bad |= dot_acc_sat_4x8packed_ss_int(x, y, s) != limit(s + product(x, y, true, true));
  bad |= dot_acc_sat_4x8packed_us_int(x, y, s) != limit(s + product(x, y, false, true));
  bad |= dot_acc_sat_4x8packed_su_int(x, y, s) != limit(s + product(x, y, true, false));
  if (bad) atomic_inc(wrong);
}
