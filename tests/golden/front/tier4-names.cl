// Names that meet: tables of two functions, an argument called as the grid, shadowed variables.
// RUN: clcompare %s --grid 64 grid_x=3 o=zeros:64 t_=2
// RUN: vyre run %s --grid 64 grid_x=3 o=zeros:64 t_=2 --print o:4
// CHECK: names: ok
// CHECK: 0:   63   75   87   99
int f(int i) {
  const int t[4] = {1, 2, 3, 4};
  return t[i & 3];
}
int g(int i) {
  const int t[4] = {5, 6, 7, 8};
  return t[i & 3];
}
kernel void names(int grid_x, global int *o, int t_) {
  int i = get_global_id(0);
  int s = f(i) + g(i) * grid_x + t_;
  int o_ = s;
  {
    int s = 3;
    o_ += s;
    {
      int s = o_;
      o_ += s * 2;
    }
  }
  o[i] = o_;
}
