/* SPDX-License-Identifier: MIT
 *
 * _vyre.Kernel: a program with a signature, which is called like a function. It is made from a
 * loader, a function that is called when the kernel is first used; its program is loaded into its
 * runtime then, and again after a fork. The Python layer adds the methods that need no speed.
 */
#ifndef VYRE_PYTHON_KERNEL_H
#define VYRE_PYTHON_KERNEL_H

#include "limited.h"

bool kernel_add_type(PyObject *module);

#endif
