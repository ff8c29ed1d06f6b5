// What the preprocessor leaves for later: the version, hints about loops whose count is a macro, a
// folder with a header of the name of clang's own, and local memory without a name.
// RUN: vyre run %s -DTIMES=3 -I %S/inputs/shadow o=zeros:4 arg1=local:64 --grid 1 --workgroup 1 --print o
// CHECK: 0:  120    3    3    8
// RUN: vyre run %s -DTIMES=3 -cl-std=CL2.0 o=zeros:4 arg1=local:64 --grid 1 --workgroup 1 --print o
// CHECK: 0:  200    3    3    8
// RUN: vyre run %s -DTIMES=3 -cl-std=CL3.0 o=zeros:4 arg1=local:64 --grid 1 --workgroup 1 --print o
// CHECK: 0:  300    3    3    8
// RUN: vyre run %s -DTIMES=3 -D__OPENCL_VERSION__=77 o=zeros:4 arg1=local:64 --grid 1 --workgroup 1 --print o
// CHECK: 0:   77    3    3    8
#ifdef SHADOWED
#error the folder's own header was read
#endif
kernel void k(global int *o, local int *) {
  o[0] = __OPENCL_VERSION__;
#pragma unroll TIMES
  for (int i = 0; i < TIMES; i++) o[1]++;
  _Pragma("unroll TIMES") for (int i = 0; i < TIMES; i++) o[2]++;
#pragma pack(1)
  struct {
    char c;
    int i;
  } s;
#pragma pack()
  struct {
    char c;
    int i;
  } t;
  o[3] = sizeof t;
}
