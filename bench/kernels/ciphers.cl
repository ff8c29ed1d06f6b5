// Hashing and encryption of bench/kernels.c, for vyre and for OpenCL drivers.
// SPDX-License-Identifier: MIT
constant uint rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
constant uint start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// SHA-256 of one block for each work item.
kernel void k_sha256(global const uint *message, global uint *digest) {
  uint i = get_global_id(0);
  uint w[64];
  for (uint k = 0; k < 16; k++) w[k] = message[i * 16 + k];
  for (uint k = 16; k < 64; k++) {
    uint x = w[k - 15], y = w[k - 2];
    w[k] = w[k - 16] + (rotate(x, 25u) ^ rotate(x, 14u) ^ (x >> 3)) + w[k - 7] +
           (rotate(y, 15u) ^ rotate(y, 13u) ^ (y >> 10));
  }
  uint a = start[0], b = start[1], c = start[2], d = start[3];
  uint e = start[4], f = start[5], g = start[6], h = start[7];
  for (uint k = 0; k < 64; k++) {
    uint t = h + (rotate(e, 26u) ^ rotate(e, 21u) ^ rotate(e, 7u)) + ((e & f) ^ (~e & g)) +
             rounds[k] + w[k];
    uint u = (rotate(a, 30u) ^ rotate(a, 19u) ^ rotate(a, 10u)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t;
    d = c;
    c = b;
    b = a;
    a = t + u;
  }
  global uint *out = digest + i * 8;
  out[0] = start[0] + a;
  out[1] = start[1] + b;
  out[2] = start[2] + c;
  out[3] = start[3] + d;
  out[4] = start[4] + e;
  out[5] = start[5] + f;
  out[6] = start[6] + g;
  out[7] = start[7] + h;
}

// AES with a key of 128 bits and one table, which also holds the substitution in its second byte.
uint column_of(global const uint *table, uint a, uint b, uint c, uint d, uint key) {
  return table[a >> 24] ^ rotate(table[(b >> 16) & 255], 24u) ^ rotate(table[(c >> 8) & 255], 16u) ^
         rotate(table[d & 255], 8u) ^ key;
}
uint last_of(global const uint *table, uint a, uint b, uint c, uint d, uint key) {
  return ((table[a >> 24] << 8 & 0xff000000) | (table[(b >> 16) & 255] & 0xff0000) |
          (table[(c >> 8) & 255] & 0xff00) | (table[d & 255] >> 8 & 0xff)) ^
         key;
}
kernel void k_aes(global const uint4 *in, global const uint *table, global const uint *key,
                  global uint4 *out) {
  uint i = get_global_id(0);
  uint4 s = in[i] ^ (uint4)(key[0], key[1], key[2], key[3]);
  for (uint r = 4; r < 40; r += 4)
    s = (uint4)(column_of(table, s.x, s.y, s.z, s.w, key[r]),
                column_of(table, s.y, s.z, s.w, s.x, key[r + 1]),
                column_of(table, s.z, s.w, s.x, s.y, key[r + 2]),
                column_of(table, s.w, s.x, s.y, s.z, key[r + 3]));
  out[i] = (uint4)(last_of(table, s.x, s.y, s.z, s.w, key[40]),
                   last_of(table, s.y, s.z, s.w, s.x, key[41]),
                   last_of(table, s.z, s.w, s.x, s.y, key[42]),
                   last_of(table, s.w, s.x, s.y, s.z, key[43]));
}
