// More cases than are nested in one another: each is a condition of its own, and the default is
// taken by what matches none of them, wherever it stands.
// RUN: vyre run %s:many --backend ref --grid 14 o=zeros:14 --print o
// RUN: vyre run %s:middle --backend ref --grid 14 o=zeros:14 --print o
// RUN: vyre run %s:without --backend ref --grid 14 o=zeros:14 --print o
// CHECK: 0: -1 11 12 113 13 15 16 17
// CHECK: 8: 18 19 20 21 -1 -1
// CHECK: 0: 5 11 12 13 14 15 16 17
// CHECK: 8: 18 19 20 5 5 5
// CHECK: 0: 7 11 12 13 14 15 16 17
// CHECK: 8: 18 19 20 7 7 7
kernel void many(global int *o) {
  int i = get_global_id(0), r = 0;
  switch (i) {
  case 1: r = 11; break;
  case 2: r = 12; break;
  case 3: r = 100;
  case 4: r += 13; break;
  case 5: r = 15; break;
  case 6: r = 16; break;
  case 7: r = 17; break;
  case 8: r = 18; break;
  case 9: r = 19; break;
  case 10: r = 20; break;
  case 11: r = 21; break;
  default: r = -1;
  }
  o[i] = r;
}
kernel void middle(global int *o) {
  int i = get_global_id(0), r = 5;
  switch (i) {
  case 1: r = 11; break;
  case 2: r = 12; break;
  case 3: r = 13; break;
  case 4: r = 14; break;
  case 5: r = 15; break;
  default: break;
  case 6: r = 16; break;
  case 7: r = 17; break;
  case 8: r = 18; break;
  case 9: r = 19; break;
  case 10: r = 20; break;
  }
  o[i] = r;
}
kernel void without(global int *o) {
  int i = get_global_id(0), r = 7;
  switch (i) {
  case 1: r = 11; break;
  case 2: r = 12; break;
  case 3: r = 13; break;
  case 4: r = 14; break;
  case 5: r = 15; break;
  case 6: r = 16; break;
  case 7: r = 17; break;
  case 8: r = 18; break;
  case 9: r = 19; break;
  case 10: r = 20; break;
  }
  o[i] = r;
}
