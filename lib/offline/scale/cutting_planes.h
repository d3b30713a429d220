/* The small problem inside the cutting-plane method: of planes below a convex function, the best
 * point under all of them with a quadratic regulariser (Joachims 2006; Teo et al. 2010).
 *
 *   minimise |w|^2 / 2 + C max(0, max_k (b_k - w . a_k))      over w
 *   maximise b . l - |sum_k l_k a_k|^2 / 2                    over l >= 0, sum l <= C
 *
 * with w = sum_k l_k a_k. Solved in l, two of them at a time, those that gain most (second-order
 * choice of Fan, Chen and Lin 2005).
 *
 * Shapes: a [columns]. All numbers are finite. Limit: EK_CUTTING_PLANES_MAX planes are held; those
 * that carried nothing for longest give way. Deterministic. Owner: the caller. Threads: one at a
 * time.
 */
#ifndef EK_OFFLINE_SCALE_CUTTING_PLANES_H
#define EK_OFFLINE_SCALE_CUTTING_PLANES_H

#include "base/error.h"

#include <stddef.h>

enum { EK_CUTTING_PLANES_MAX = 1000 };

struct ek_cutting_planes;

/* EK_ENOMEM. c > 0. */
int ek_cutting_planes_new(struct ek_cutting_planes **out, size_t columns, double c,
                          struct ek_error *e);
void ek_cutting_planes_free(struct ek_cutting_planes *p);
/* Copies a. EK_ENOMEM, EK_ESTATE when all EK_CUTTING_PLANES_MAX planes are needed. */
int ek_cutting_planes_add(struct ek_cutting_planes *p, const double *a, double b,
                          struct ek_error *e);
/* Solves until the two problems differ by `gap` at most, or rounding allows no further step; sets
 * w [columns]. Returns the value of the second one, which the first is never below. */
double ek_cutting_planes_solve(struct ek_cutting_planes *p, double gap, double *w);

#endif
