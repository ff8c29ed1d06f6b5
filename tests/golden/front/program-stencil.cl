// A heat equation: five points in two dimensions with a tile of local memory, seven in three.
// RUN: clcompare %s:heat2d --grid 64,32 --workgroup 16,8 w=64 h=32 k=0.1 a=rand:2048 b=zeros:2048
// RUN: clcompare %s:heat3d --grid 16,16,8 nx=16 ny=16 nz=8 c0=0.5 c1=0.0833 a=rand:2048 b=zeros:2048
// CHECK: heat2d: ok
// CHECK: heat3d: ok
#define BX 16
#define BY 8
kernel void heat2d(int w, int h, float k, global const float *restrict a, global float *restrict b) {
  local float tile[BY + 2][BX + 2];
  const int gx = get_global_id(0), gy = get_global_id(1);
  const int lx = get_local_id(0) + 1, ly = get_local_id(1) + 1;
  tile[ly][lx] = a[gy * w + gx];
  if (lx == 1) tile[ly][0] = gx > 0 ? a[gy * w + gx - 1] : 0.0f;
  if (lx == BX) tile[ly][BX + 1] = gx < w - 1 ? a[gy * w + gx + 1] : 0.0f;
  if (ly == 1) tile[0][lx] = gy > 0 ? a[(gy - 1) * w + gx] : 0.0f;
  if (ly == BY) tile[BY + 1][lx] = gy < h - 1 ? a[(gy + 1) * w + gx] : 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE);
  float centre = tile[ly][lx];
  float sum = tile[ly][lx - 1] + tile[ly][lx + 1] + tile[ly - 1][lx] + tile[ly + 1][lx];
  b[gy * w + gx] = centre + k * (sum - 4.0f * centre);
}
#define AT(x, y, z) (((z) * ny + (y)) * nx + (x))
kernel void heat3d(int nx, int ny, int nz, float c0, float c1, global const float *a,
                   global float *b) {
  int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
  if (x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1) {
    b[AT(x, y, z)] = a[AT(x, y, z)];
    return;
  }
  b[AT(x, y, z)] = c0 * a[AT(x, y, z)] + c1 * (a[AT(x - 1, y, z)] + a[AT(x + 1, y, z)] +
                                               a[AT(x, y - 1, z)] + a[AT(x, y + 1, z)] +
                                               a[AT(x, y, z - 1)] + a[AT(x, y, z + 1)]);
}
