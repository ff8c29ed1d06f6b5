// Molecular dynamics: Lennard-Jones forces over a list of neighbours, an all-pairs step with a tile
// in local memory, and the integration.
// RUN: clcompare %s:forces --grid 32 count=4 cut=9 lj1=1.5 lj2=2 pos=rand:32 near=rand:128:0:32 force=zeros:32
// RUN: clcompare %s:n_body --grid 64 --workgroup 32 --ulp 64 dt=0.01 eps=0.05 pos=rand:64 vel=rand:64 next=zeros:64
// RUN: clcompare %s:integrate --grid 64 dt=0.01 pos=rand:64 vel=rand:64 force=rand:64
// CHECK: forces: ok
// CHECK: n_body: ok
// CHECK: integrate: ok
kernel void forces(int count, float cut, float lj1, float lj2, global const float4 *pos,
                   global const int *near, global float4 *force) {
  uint i = get_global_id(0);
  float4 mine = pos[i], f = (float4)(0.0f);
  for (int j = 0; j < count; j++) {
    float4 other = pos[near[j * get_global_size(0) + i]];
    float dx = mine.x - other.x, dy = mine.y - other.y, dz = mine.z - other.z;
    float r2 = dx * dx + dy * dy + dz * dz;
    if (r2 < cut && r2 > 0.0f) {
      float inv = 1.0f / r2, inv6 = inv * inv * inv;
      float strength = inv * inv6 * (lj1 * inv6 - lj2);
      f.x += dx * strength;
      f.y += dy * strength;
      f.z += dz * strength;
    }
  }
  force[i] = f;
}
float3 pull(float4 a, float4 b, float3 sum, float eps) {
  float3 r = b.xyz - a.xyz;
  float d2 = dot(r, r) + eps;
  float inv = 1.0f / sqrt(d2);
  return sum + r * (b.w * inv * inv * inv);
}
kernel void n_body(float dt, float eps, global const float4 *pos, global float4 *vel,
                   global float4 *next) {
  local float4 tile[32];
  int i = get_global_id(0), l = get_local_id(0), n = get_global_size(0), size = get_local_size(0);
  float4 mine = pos[i];
  float3 sum = (float3)(0);
  for (int t = 0; t < n; t += size) {
    tile[l] = pos[t + l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < size; k++) sum = pull(mine, tile[k], sum, eps);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float4 v = vel[i];
  v.xyz += sum * dt;
  vel[i] = v;
  mine.xyz += v.xyz * dt;
  next[i] = mine;
}
kernel void integrate(float dt, global float4 *pos, global float4 *vel, global const float4 *force) {
  int i = get_global_id(0);
  vel[i] = mad(force[i], (float4)(dt), vel[i]);
  pos[i] += vel[i] * dt;
}
