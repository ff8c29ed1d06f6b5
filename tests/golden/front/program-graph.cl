// Graphs: a breadth-first step with flags, one with a queue and atomics, a relaxation of shortest
// paths, a step of page rank.
// RUN: clcompare %s:bfs_flags --grid 8 n=8 level=1 start=list:0,2,4,5,7,9,10,11,12 edge=list:1,2,0,3,4,1,5,6,2,7,7,3 depth=list:0,1,1,-1,-1,-1,-1,-1 more=zeros:1
// RUN: clcompare %s:bfs_queue --grid 4 start=list:0,2,4,5,7,9,10,11,12 edge=list:1,2,0,3,4,1,5,6,2,7,7,3 front=list:1,2,0,0 count=3 seen=list:1,1,1,0,0,0,0,0 next=zeros:16 next_count=zeros:1 --ignore next
// RUN: clcompare %s:relax --grid 12 from=list:0,0,1,1,2,3,3,4,4,5,6,7 to=list:1,2,0,3,4,1,5,6,2,7,7,3 weight=list:4,2,4,5,1,5,6,2,1,3,2,3 dist=list:0,4,2,1000,1000,1000,1000,1000
// RUN: clcompare %s:rank --grid 8 n=8 damp=0.85 start=list:0,2,4,5,7,9,10,11,12 edge=list:1,2,0,3,4,1,5,6,2,7,7,3 old=rand:8:0:1 new=zeros:8
// CHECK: bfs_flags: ok
// CHECK: bfs_queue: ok
// CHECK: relax: ok
// CHECK: rank: ok
kernel void bfs_flags(int n, int level, global const int *start, global const int *edge,
                      global int *depth, global int *more) {
  int v = get_global_id(0);
  if (v >= n || depth[v] != level) return;
  for (int e = start[v]; e < start[v + 1]; e++) {
    int w = edge[e];
    if (depth[w] < 0) {
      depth[w] = level + 1;
      *more = 1;
    }
  }
}
kernel void bfs_queue(global const int *start, global const int *edge, global const int *front,
                      int count, global int *seen, global int *next, global int *next_count) {
  int i = get_global_id(0);
  if (i >= count) return;
  int v = front[i];
  for (int e = start[v]; e < start[v + 1]; e++) {
    int w = edge[e];
    if (atomic_xchg(&seen[w], 1) == 0) next[atomic_inc(next_count)] = w;
  }
}
kernel void relax(global const int *from, global const int *to, global const int *weight,
                  global int *dist) {
  int e = get_global_id(0);
  // Read once at the start: the order of the invocations does not matter then.
  if (from[e] <= 2) atomic_min(&dist[to[e]], (from[e] == 0 ? 0 : from[e] == 1 ? 4 : 2) + weight[e]);
}
kernel void rank(int n, float damp, global const int *start, global const int *edge,
                 global const float *old, global float *new) {
  int v = get_global_id(0);
  float sum = 0;
  for (int e = start[v]; e < start[v + 1]; ++e) {
    int w = edge[e];
    sum += old[w] / (start[w + 1] - start[w]);
  }
  new[v] = (1.0f - damp) / n + damp * sum;
}
