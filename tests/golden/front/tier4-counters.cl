// Bounds that change while the loop runs, by name and through a pointer, and what a counter is after
// the loop, for steps that do not divide the distance.
// RUN: vyre run %s:bounds --backend ref --grid 1 n=10 o=zeros:8 --print o
// RUN: vyre run %s:after --backend ref --grid 8 o=zeros:40 --print o:40
// CHECK: 0: 5 5 5 3 10 4 9 0
// CHECK: 0: 2 2 2 10 0 2 2 2
// CHECK: 8: 9 0 2 5 2 8 0 5
// CHECK: 16: 5 5 7 0 5 5 5 6
// CHECK: 24: 0 5 8 5 5 0 8 8
// CHECK: 32: 8 4 0 8 8 8 3 0
void shorten(int *p) { *p -= 1; }
kernel void bounds(int n, global int *o) {
  int end = n, trips = 0;
  int *p = &end;
  for (int i = 0; i < end; i++) {
    *p -= 1;
    trips++;
  }
  o[0] = trips;
  end = n;
  trips = 0;
  for (int i = 0; i < end; i++) {
    shorten(&end);
    trips++;
  }
  o[1] = trips;
  int limit = n;
  trips = 0;
  for (int i = 0; i < limit; i++) {
    limit--;
    trips++;
  }
  o[2] = trips;
  o[3] = 3;
  trips = 0;
  for (int i = 0; i < o[3]; i++) {
    if (i == 0) o[3] = n;
    trips++;
  }
  o[4] = trips;
  o[3] = 3;
  int pair[2] = {4, 9};
  for (trips = 0; trips < pair[0]; trips++) pair[1] += 0;
  o[5] = trips;
  for (trips = 0; trips < pair[0]; trips++) pair[0] = pair[1];
  o[6] = trips;
  unsigned none = 0;
  for (trips = 0; none > (unsigned)trips; trips++) o[7] = 1;
}
kernel void after(global int *o) {
  int g = get_global_id(0), i;
  global int *p = o + 5 * g;
  for (i = 2; i < g; i += 3) p[4] = i;
  p[0] = i;
  for (i = 2; i <= g; i += 3) p[4] = i;
  p[1] = i;
  int step = 3;
  for (i = 2; i < g; i = i + step) p[4] = i;
  p[2] = i;
  for (i = 10; i > 10 - g; i--) p[4] = i;
  p[3] = i;
  p[4] = 0;
}
