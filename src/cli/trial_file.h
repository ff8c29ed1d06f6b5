// SPDX-License-Identifier: MIT
//
// A trial as a folder, so that a failure can be looked at and run again: program.vyre, one .npy
// file per bound buffer, trial.json with parameters and launch shape, and a file `command` that
// says how to run it. One thread.
#ifndef VYRE_CLI_TRIAL_FILE_H
#define VYRE_CLI_TRIAL_FILE_H

#include "conform/trial.h"

// `note` is put into `command` as a comment.
vyre_status trial_save(const trial *t, const char *folder, const char *backend, const char *note,
                       vyre_error *error);
// The caller ends the trial with trial_fini.
vyre_status trial_load(const char *folder, trial *out, vyre_error *error);

#endif
