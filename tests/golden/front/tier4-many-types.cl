// More types than a table of fixed size held, and a structure of more parts than are ever taken apart,
// behind a pointer.
// RUN: vyre run %s x=zeros:80010 o=zeros:4 --grid 1 --print o
// CHECK: 0:  1100  5  7  0
typedef struct {
  int head;
  float many[80000];
  int tail[8];
} large;
#define ONE(n) struct s##n { int a; };
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9) HUNDRED(10) HUNDRED(11)
#undef ONE
#define ONE(n) { struct s##n v; v.a = 1; sum += v.a; }
kernel void types(global large *x, global int *o) {
  int sum = 0;
  HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9) HUNDRED(10) HUNDRED(11)
  x->head = 5;
  x->many[79999] = 7;
  o[0] = sum;
  o[1] = x->head;
  o[2] = (int)x->many[79999];
  o[3] = x->tail[7];
}
