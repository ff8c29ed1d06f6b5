// SPDX-License-Identifier: MIT
float twice(float x) { return x + y; }
