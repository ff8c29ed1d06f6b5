// SPDX-License-Identifier: MIT
//
// Every pass of the table, one file each. A new pass is its file, a line here and a line in
// table.c.
#ifndef VYRE_OPT_PASSES_H
#define VYRE_OPT_PASSES_H

#include "opt/pass.h"

extern const pass pass_canonicalize;
extern const pass pass_const_fold;
extern const pass pass_algebraic_simplify;
extern const pass pass_strength_reduce;
extern const pass pass_promote_variables;
extern const pass pass_cse;
extern const pass pass_if_simplify;
extern const pass pass_dce;
extern const pass pass_barrier_eliminate;
extern const pass pass_atomic_simplify;
extern const pass pass_licm;
extern const pass pass_loop_unswitch;
extern const pass pass_loop_bounds_tighten;
extern const pass pass_loop_unroll;
extern const pass pass_bounds_check_eliminate;
extern const pass pass_load_forward;
extern const pass pass_dead_store;
extern const pass pass_store_sink;
extern const pass pass_transient_eliminate;
extern const pass pass_region_fusion;
extern const pass pass_range_propagate;
extern const pass pass_uniform_hoist;
extern const pass pass_region_chain;

#endif
