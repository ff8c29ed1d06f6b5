// Hashing and ciphers: SHA-256 of one block, MurmurHash3, CRC-32 by a table, a round of a cipher.
// RUN: clcompare %s:sha256 --grid 16 x=bits:256 o=zeros:128
// RUN: clcompare %s:murmur --grid 64 x=bits:1024 n=16 seed=42 o=zeros:64
// RUN: clcompare %s:crc --grid 32 x=bits:1024 o=zeros:32
// RUN: clcompare %s:xtea --grid 32 key=bits:4 v=bits:32
// CHECK: sha256: ok
// CHECK: murmur: ok
// CHECK: crc: ok
// CHECK: xtea: ok
constant uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define ROR(x, n) rotate(x, 32u - (n))
#define S0(x) (ROR(x, 2u) ^ ROR(x, 13u) ^ ROR(x, 22u))
#define S1(x) (ROR(x, 6u) ^ ROR(x, 11u) ^ ROR(x, 25u))
kernel void sha256(global const uint *x, global uint *o) {
  int g = get_global_id(0);
  uint w[64], h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (int i = 0; i < 16; i++) w[i] = x[16 * g + i];
  for (int i = 16; i < 64; i++) {
    uint a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (ROR(a, 7u) ^ ROR(a, 18u) ^ (a >> 3)) + w[i - 7] +
           (ROR(b, 17u) ^ ROR(b, 19u) ^ (b >> 10));
  }
  uint s[8];
  for (int i = 0; i < 8; i++) s[i] = h[i];
  for (int i = 0; i < 64; i++) {
    uint t1 = s[7] + S1(s[4]) + bitselect(s[6], s[5], s[4]) + K[i] + w[i];
    uint t2 = S0(s[0]) + ((s[0] & s[1]) | (s[2] & (s[0] | s[1])));
    for (int j = 7; j > 0; j--) s[j] = s[j - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) o[8 * g + i] = h[i] + s[i];
}
uint scramble(uint k) {
  k *= 0xcc9e2d51u;
  k = rotate(k, 15u);
  return k * 0x1b873593u;
}
kernel void murmur(global const uint *x, int n, uint seed, global uint *o) {
  int g = get_global_id(0);
  uint h = seed;
  for (int i = 0; i < n; i++) h = rotate(h ^ scramble(x[g * n + i]), 13u) * 5 + 0xe6546b64u;
  h ^= n * 4;
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  o[g] = h ^ (h >> 16);
}
kernel void crc(global const uchar *x, global uint *o) {
  uint table[256];
  for (uint i = 0; i < 256; i++) {
    uint c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  uint c = ~0u;
  for (int i = 0; i < 32; i++) c = table[(c ^ x[get_global_id(0) * 32 + i]) & 255] ^ (c >> 8);
  o[get_global_id(0)] = ~c;
}
kernel void xtea(constant uint *key, global uint2 *v) {
  uint2 d = v[get_global_id(0)];
  uint sum = 0;
  for (int i = 0; i < 32; i++) {
    d.x += (((d.y << 4) ^ (d.y >> 5)) + d.y) ^ (sum + key[sum & 3]);
    sum += 0x9e3779b9;
    d.y += (((d.x << 4) ^ (d.x >> 5)) + d.x) ^ (sum + key[(sum >> 11) & 3]);
  }
  v[get_global_id(0)] = d;
}
