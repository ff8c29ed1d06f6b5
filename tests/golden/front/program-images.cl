// Pictures as buffers: an edge filter, a histogram, a median of nine, a mandelbrot set.
// RUN: clcompare %s:sobel --grid 32,16 w=32 h=16 in=bits:512 out=zeros:512
// RUN: clcompare %s:histogram --grid 512 --workgroup 64 in=bits:512 bins=zeros:256
// RUN: clcompare %s:median --grid 30,14 w=32 in=bits:512 out=zeros:512
// RUN: clcompare %s:mandelbrot --grid 48,32 x0=-2 y0=-1 dx=0.0625 most=100 out=zeros:1536
// CHECK: sobel: ok
// CHECK: histogram: ok
// CHECK: median: ok
// CHECK: mandelbrot: ok
int at(global const uchar *in, int w, int h, int x, int y) {
  return in[clamp(y, 0, h - 1) * w + clamp(x, 0, w - 1)];
}
kernel void sobel(int w, int h, global const uchar *in, global uchar *out) {
  int x = get_global_id(0), y = get_global_id(1), gx = 0, gy = 0;
  for (int d = -1; d <= 1; d++) {
    int k = d == 0 ? 2 : 1;
    gx += k * (at(in, w, h, x + 1, y + d) - at(in, w, h, x - 1, y + d));
    gy += k * (at(in, w, h, x + d, y + 1) - at(in, w, h, x + d, y - 1));
  }
  out[y * w + x] = convert_uchar_sat(sqrt((float)(gx * gx + gy * gy)));
}
kernel void histogram(global const uchar *in, global uint *bins) {
  local uint mine[256];
  for (int i = get_local_id(0); i < 256; i += get_local_size(0)) mine[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(mine + in[get_global_id(0)]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < 256; i += get_local_size(0))
    if (mine[i]) atomic_add(&bins[i], mine[i]);
}
void sort2(uchar *a, uchar *b) {
  uchar lo = min(*a, *b), hi = max(*a, *b);
  *a = lo;
  *b = hi;
}
kernel void median(int w, global const uchar *in, global uchar *out) {
  int x = get_global_id(0) + 1, y = get_global_id(1) + 1, n = 0;
  uchar v[9];
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) v[n++] = in[(y + dy) * w + x + dx];
  for (int i = 0; i < 5; i++)
    for (int j = i + 1; j < 9; j++) sort2(&v[i], &v[j]);
  out[y * w + x] = v[4];
}
kernel void mandelbrot(float x0, float y0, float dx, int most, global int *out) {
  int px = get_global_id(0), py = get_global_id(1), n = 0;
  float cx = x0 + px * dx, cy = y0 + py * dx, x = 0, y = 0;
  while (x * x + y * y <= 4.0f && n < most) {
    float t = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = t;
    n++;
  }
  out[py * get_global_size(0) + px] = n;
}
