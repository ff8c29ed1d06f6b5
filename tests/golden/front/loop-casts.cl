// A cast of the counter to a narrower integer begins over where the counter goes on: such loops do not count.
// RUN: vyre run %s:casts n=10 y=zeros:6 --grid 1 --backend cpu --print y
// RUN: vyre run %s:steps z=zeros:300 --grid 300 --backend cpu --print z:2
// CHECK: 0: 2605 345 10 21 15 45
// CHECK: 0: 3 3
kernel void casts(global int *y, int n) {
  int s = 0;
  for (int i = 256; (uchar)i < n; i++) s += i;
  y[0] = s;
  s = 0;
  for (int i = 300; i < 400; i = (uchar)(i + 1)) {
    if (i == 46) break;
    s += i;
  }
  y[1] = s;
  s = 0;
  for (long i = 0x100000000; (int)i < n; i++) s += (i >> 32) == 1;
  y[2] = s;
  s = 0;
  for (uint i = (uint)n - 26; (int)i < 5; i++) s++;
  y[3] = s;
  s = 0;
  for (short i = 0; (long)i < n - 4; i = (short)(int)(i + 1)) s += i;
  y[4] = s;
  s = 0;
  for (uchar i = 0; i < n; i = i + 1) s += i;
  y[5] = s;
}

kernel __attribute__((reqd_work_group_size(300, 1, 1))) void steps(global int *z) {
  int s = 0;
  for (int i = get_local_id(0); i < 100; i += (uchar)get_local_size(0)) s++;
  z[get_local_id(0)] = s;
}
