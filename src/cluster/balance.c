// SPDX-License-Identifier: MIT
#include "cluster/balance.h"

// A rank that gets nothing would never be measured again.
static const double LEAST_SHARE = 0.01;
// Less than that is not worth moving data for, whatever the shares are.
static const double LEAST_NS = 20000;
static const double LEAST_DEPTH_GAIN = 0.1;
static const uint32_t depths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

// The whole would take `whole_ns` on the rank: its rate is one by that.
static double rate_of(const balance_said *s, double usual) {
  return s->whole_ns ? 1.0 / (double)s->whole_ns : usual;
}

bool balance_weights(const balance_said *all, uint32_t ranks, double least_gain,
                     uint32_t *weights) {
  double known = 0, sum = 0, best = 0, total = 0, slowest = 0;
  uint32_t count = 0;
  for (uint32_t n = 0; n < ranks; n++) {
    if (all[n].whole_ns) known += rate_of(&all[n], 0), count++;
    total += weights[n];
  }
  if (!count) return false;
  double usual = known / count;
  for (uint32_t n = 0; n < ranks; n++) {
    double rate = rate_of(&all[n], usual), ns = weights[n] / total / rate;
    sum += rate;
    if (rate > best) best = rate;
    if (ns > slowest) slowest = ns;
  }
  double ideal = 1 / sum;
  if (slowest <= ideal * (1 + least_gain)) return false;
  if (least_gain > 0 && slowest < LEAST_NS) return false;
  for (uint32_t n = 0; n < ranks; n++) {
    double share = rate_of(&all[n], usual) / best;
    weights[n] = (uint32_t)((share > LEAST_SHARE ? share : LEAST_SHARE) * BALANCE_MOST + 0.5);
  }
  return true;
}

static double expected_ns(double compute_ns, double rows, double travel_ns, uint32_t depth) {
  double hidden = travel_ns < compute_ns ? travel_ns : compute_ns;
  return compute_ns * (1 + (depth - 1) / rows) + (travel_ns - hidden) / depth;
}

static void note_travel(balance_travel *seen, uint32_t depth, double ns) {
  int at = seen->depth[0] == depth || !seen->depth[0] ? 0 : 1;
  if (at && seen->depth[1] && seen->depth[1] != depth) { // the older one goes
    seen->depth[0] = seen->depth[1];
    seen->ns[0] = seen->ns[1];
  }
  seen->depth[at] = depth;
  seen->ns[at] = ns;
}

// Messages of deep halos are longer: a line through what was seen of two depths.
static double travel_at(const balance_travel *seen, uint32_t depth) {
  if (!seen->depth[1]) return seen->ns[0];
  double slope = (seen->ns[1] - seen->ns[0]) / ((double)seen->depth[1] - seen->depth[0]);
  if (slope < 0) slope = 0;
  double ns = seen->ns[1] + slope * ((double)depth - seen->depth[1]);
  return ns > 0 ? ns : 0;
}

uint32_t balance_depth(const balance_said *all, uint32_t ranks, uint32_t depth,
                       balance_travel *seen) {
  double compute = 0, travel = 0, rows = 0;
  for (uint32_t n = 0; n < ranks; n++) {
    if (!all[n].rows || !all[n].dispatches) continue;
    double own = (double)all[n].busy_ns / (double)all[n].dispatches;
    if (own > compute) compute = own;
    if (rows == 0 || (double)all[n].rows < rows) rows = (double)all[n].rows;
    // The rank that waits least waits for the network, the others for it.
    double way = all[n].travels ? (double)all[n].travel_ns / (double)all[n].travels : 0;
    if (all[n].travels && (travel == 0 || way < travel)) travel = way;
  }
  if (rows < 8 || compute == 0 || travel == 0) return depth;
  compute /= 1 + (depth - 1) / rows;
  note_travel(seen, depth, travel);
  uint32_t best = depth;
  double now = expected_ns(compute, rows, travel, depth), least = now;
  for (unsigned i = 0; i < sizeof depths / sizeof *depths; i++) {
    if (depths[i] > rows / 4) break;
    double ns = expected_ns(compute, rows, travel_at(seen, depths[i]), depths[i]);
    if (ns < least) least = ns, best = depths[i];
  }
  return least < now * (1 - LEAST_DEPTH_GAIN) ? best : depth;
}
