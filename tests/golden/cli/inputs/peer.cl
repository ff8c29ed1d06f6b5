// Numbers, buffers and local memory: all that a peer is given by hand.
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void
peer(global const float *x, global float *y, local float *room, float a) {
  size_t i = get_global_id(0);
  room[get_local_id(0)] = a * x[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[i] = room[get_local_id(0)];
}

kernel void plain(global const float *x, global float *y, float a) {
  y[get_global_id(0)] = a * x[get_global_id(0)];
}
