// SPDX-License-Identifier: MIT
//
// Where a plan begins: with the variant that was decided for it before, when its code is at hand
// and was proven here; otherwise with those that do well at other sizes, in turn; otherwise with
// the first code. A beginning is not a verdict: what is measured from then on decides. Any thread.
#ifndef VYRE_RUNTIME_BEGIN_H
#define VYRE_RUNTIME_BEGIN_H

#include "runtime/plan.h"

// Gives a new plan, which nobody else sees yet, its first variant and state.
// `timeout_ns` limits compiling; 0: no limit.
vyre_status begin_plan(vyre_kernel *k, plan *p, uint64_t timeout_ns, vyre_error *error);
// Sets what earlier processes measured of a variant in this bucket. With the kernel's lock.
void begin_set_prior(const vyre_kernel *k, const plan *p, variant *v);
// Makes what earlier processes saw be much faster here than `usual_ns` a variant again, when that
// is worth its cost. In the background, without the kernel's lock.
void begin_revive(vyre_kernel *k, plan *p, double usual_ns, uint64_t dispatches);
// Whether earlier processes saw a variant of the backend (NULL: any) be faster in this bucket than
// `usual_ns`.
bool begin_has_hope(const vyre_kernel *k, const plan *p, const char *backend, double usual_ns);
// What machines of this kind found fastest in this bucket, as a variant's name; NULL: nothing is
// known that could be tried. In the background.
const store_latency_row *begin_lead(const vyre_kernel *k, const plan *p);
// Whether the routing table's words for the plan name this backend.
bool begin_is_routed(const plan *p, const char *backend);

#endif
