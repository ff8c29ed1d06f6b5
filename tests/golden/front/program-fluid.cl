// Fluids: a lattice behind macros whose flags are the bits of a float, and fluxes between cells of
// an unstructured mesh, with structures by pointer, by value and in constant memory.
// RUN: clcompare %s:lattice --grid 32,3 --workgroup 8,1 from=rand:1152:0.1:1 to=zeros:1152
// RUN: clcompare %s:fluxes --grid 64 neighbour=rand:240:-2:59 normal=f32:rand:240 cells=rand:300:1:3 border=f32:rand:1 out=zeros:300 n=60
// CHECK: lattice: ok
// CHECK: fluxes: ok
#define WIDE 8
#define HIGH 4
#define PARTS 6
enum part { REST, EAST, WEST, NORTH, SOUTH, FLAGS };
#define CELL(x, y, z) (WIDE + (x) + WIDE * ((y) + HIGH * (z)))
#define PART(grid, dx, dy, p) ((grid)[PARTS * CELL(x + (dx), y + (dy), z) + (p)])
#define HERE(grid, p) PART(grid, 0, 0, p)
#define HAS(grid, flag) (*(global uint *)&HERE(grid, FLAGS) & (flag))
#define WALL (1u << 0)
#define PUSHED (1u << 1)
#define OMEGA 1.85f

kernel void lattice(global float *from, global float *to) {
  int x, y, z;
  x = get_local_id(0), y = get_group_id(0), z = get_group_id(1);
  float rest = HERE(from, REST), e = HERE(from, EAST), w = HERE(from, WEST);
  float n = HERE(from, NORTH), s = HERE(from, SOUTH);
  if (as_uint(HERE(from, FLAGS)) & WALL) {
    float kept = e;
    e = w;
    w = kept;
    kept = n, n = s, s = kept;
  } else {
    float rho = +rest + e + w + n + s;
    float ux = +e - w, uy = +n - s;
    ux /= rho;
    uy /= rho;
    if (HAS(from, PUSHED)) {
      ux = 0.005f;
      uy = 0.002f;
    }
    const float square = 1.5f * (ux * ux + uy * uy) - 1.0f, part = OMEGA * rho * (1.0f / 9.0f);
    rest = (1.0f - OMEGA) * rest + part * -square;
    e = (1.0f - OMEGA) * e + part * (ux * (4.5f * ux + 3.0f) - square);
    w = (1.0f - OMEGA) * w + part * (ux * (4.5f * ux - 3.0f) - square);
    n = (1.0f - OMEGA) * n + part * (uy * (4.5f * uy + 3.0f) - square);
    s = (1.0f - OMEGA) * s + part * (uy * (4.5f * uy - 3.0f) - square);
  }
  HERE(to, REST) = rest;
  PART(to, +1, 0, EAST) = e;
  PART(to, -1, 0, WEST) = w;
  PART(to, 0, +1, NORTH) = n;
  PART(to, 0, -1, SOUTH) = s;
}

#define DIMS 3
#define SIDES 4
enum { DENSITY, MOMENTUM, ENERGY = MOMENTUM + DIMS, VARIABLES };
typedef struct { float x, y, z; } vec;
typedef struct { vec momentum[DIMS], energy; } flux_t;
inline void divide(vec *by, const vec v, float d) {
  by->x = v.x / d;
  by->y = v.y / d;
  by->z = v.z / d;
}
inline float length2(vec v) { return v.x * v.x + v.y * v.y + v.z * v.z; }
static inline float pressure_of(float density, float energy, float speed2) {
  return ((float)(1.4f) - (float)(1.0f)) * (energy - 0.5f * density * speed2);
}
static void contribution(flux_t *restrict f, vec speed, vec momentum, float energy, float pressure) {
  f->momentum[0].x = speed.x * momentum.x + pressure;
  f->momentum[0].y = f->momentum[1].x = speed.x * momentum.y;
  f->momentum[0].z = f->momentum[2].x = speed.x * momentum.z;
  f->momentum[1].y = speed.y * momentum.y + pressure;
  f->momentum[1].z = f->momentum[2].y = speed.y * momentum.z;
  f->momentum[2].z = speed.z * momentum.z + pressure;
  f->energy = (vec){speed.x * (energy + pressure), speed.y * (energy + pressure),
                    speed.z * (energy + pressure)};
}
kernel void fluxes(global const int *neighbour, global const vec *normal, global const float *cells,
                   constant flux_t *border, global float *out, int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  float density = cells[i + DENSITY * n], energy = cells[i + ENERGY * n];
  vec momentum = {cells[i + MOMENTUM * n], cells[i + (MOMENTUM + 1) * n],
                  cells[i + (MOMENTUM + 2) * n]}, speed;
  divide(&speed, momentum, density);
  float pressure = pressure_of(density, energy, length2(speed));
  float fastest = sqrt(length2(speed)) + sqrt(fabs(1.4f * pressure / density));
  flux_t own;
  contribution(&own, speed, momentum, energy, pressure);
  float sum[VARIABLES] = {0.0f};
  for (int side = 0; side < SIDES; side++) {
    const vec at = normal[i * SIDES + side];
    int other = neighbour[i + side * n];
    if (other >= 0) {
      float factor = -sqrt(length2(at)) * 0.1f * fastest;
      sum[DENSITY] += factor * (density - cells[other]);
      sum[ENERGY] += factor * (energy - cells[other + ENERGY * n]) + 0.5f * at.x * own.energy.x;
      for (int d = 0; d < DIMS; d++) {
        vec m = own.momentum[d];
        sum[MOMENTUM + d] += 0.5f * (m.x * at.x + m.y * at.y + m.z * at.z) +
                             factor * (d == 0 ? momentum.x : d == 1 ? momentum.y : momentum.z);
      }
    } else if (other == -1) {
      sum[MOMENTUM] += at.x * pressure;
      sum[MOMENTUM + 1] += at.y * pressure;
      sum[MOMENTUM + 2] += at.z * pressure;
    } else {
      sum[DENSITY] += 0.5f * at.x * (border->momentum[1].z + momentum.x);
      sum[ENERGY] += 0.5f * at.y * (border[0].energy.y + own.energy.y);
    }
  }
  for (int v = 0; v < VARIABLES; v++) out[i + v * n] = sum[v];
}
