// SPDX-License-Identifier: MIT
//
// ciphers.cl as loops in C.
#include "kernels/native.h"

const uint32_t sha256_rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
const uint32_t sha256_start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t left(uint32_t x, uint32_t by) {
  return x << by | x >> (32 - by);
}

void NAME(sha256)(ARGUMENTS) {
  (void)s;
  const uint32_t *message = U(0);
  uint32_t *digest = U(1);
  PARALLEL for (size_t i = 0; i < p[0]; i++) {
    uint32_t w[64], v[8];
    for (size_t k = 0; k < 16; k++) w[k] = message[i * 16 + k];
    for (size_t k = 16; k < 64; k++) {
      uint32_t x = w[k - 15], y = w[k - 2];
      w[k] = w[k - 16] + (left(x, 25) ^ left(x, 14) ^ (x >> 3)) + w[k - 7] +
             (left(y, 15) ^ left(y, 13) ^ (y >> 10));
    }
    for (size_t k = 0; k < 8; k++) v[k] = sha256_start[k];
    for (size_t k = 0; k < 64; k++) {
      uint32_t a = v[0], e = v[4];
      uint32_t t = v[7] + (left(e, 26) ^ left(e, 21) ^ left(e, 7)) + ((e & v[5]) ^ (~e & v[6])) +
                   sha256_rounds[k] + w[k];
      uint32_t u =
          (left(a, 30) ^ left(a, 19) ^ left(a, 10)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
      v[7] = v[6];
      v[6] = v[5];
      v[5] = e;
      v[4] = v[3] + t;
      v[3] = v[2];
      v[2] = v[1];
      v[1] = a;
      v[0] = t + u;
    }
    for (size_t k = 0; k < 8; k++) digest[i * 8 + k] = sha256_start[k] + v[k];
  }
}

static uint32_t column_of(const uint32_t *table, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return table[a >> 24] ^ left(table[(b >> 16) & 255], 24) ^ left(table[(c >> 8) & 255], 16) ^
         left(table[d & 255], 8);
}

static uint32_t last_of(const uint32_t *table, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return (table[a >> 24] << 8 & 0xff000000) | (table[(b >> 16) & 255] & 0xff0000) |
         (table[(c >> 8) & 255] & 0xff00) | (table[d & 255] >> 8 & 0xff);
}

void NAME(aes)(ARGUMENTS) {
  (void)s;
  const uint32_t *in = U(0), *table = U(1), *key = U(2);
  uint32_t *out = U(3);
  PARALLEL for (size_t i = 0; i < p[0]; i++) {
    uint32_t v[4], t[4];
    for (size_t k = 0; k < 4; k++) v[k] = in[i * 4 + k] ^ key[k];
    for (size_t r = 4; r < 40; r += 4) {
      for (size_t k = 0; k < 4; k++)
        t[k] = column_of(table, v[k], v[(k + 1) & 3], v[(k + 2) & 3], v[(k + 3) & 3]) ^ key[r + k];
      for (size_t k = 0; k < 4; k++) v[k] = t[k];
    }
    for (size_t k = 0; k < 4; k++)
      out[i * 4 + k] =
          last_of(table, v[k], v[(k + 1) & 3], v[(k + 2) & 3], v[(k + 3) & 3]) ^ key[40 + k];
  }
}
