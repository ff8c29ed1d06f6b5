// A kernel without macros.
kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }
