// The first command that anybody types, without anything in the caches, and again with it there.
// RUN: export VYRE_HOME=$(mktemp -d); for i in 1 2; do vyre run %s:saxpy a=2 x=rand:1000000 y=ones:1000000 --grid 1000000; done; rm -r "$VYRE_HOME"
// CHECK: saxpy on cpu: 1,000,000 invocations in
// CHECK-NEXT: y: f32[1000000] = 2.7666216 1.863056 1.0528675 2.9417639 1.2126933 1.6546515 ...
// CHECK: saxpy on cpu: 1,000,000 invocations in
// CHECK-NEXT: y: f32[1000000] = 2.7666216 1.863056 1.0528675 2.9417639 1.2126933 1.6546515 ...
kernel void saxpy(float a, global const float *x, global float *y) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
kernel void other(global float *y) { y[get_global_id(0)] = 0; }
