// vyre tunable WG in 32, 64, 3
// vyre tunable PER in 1, 2, 4 where PER * WG <= 128
__kernel __attribute__((reqd_work_group_size(WG, 1, 1)))
void scale(__global float *x) {
  __local float tile[WG * PER];
  int l = get_local_id(0), first = get_group_id(0) * WG * PER;
  for (int k = 0; k < PER; k++) tile[l + k * WG] = x[first + l + k * WG];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < PER; k++) x[first + l + k * WG] = 2 * tile[l + k * WG];
}
