/* Inner problem of the cutting-plane method: the minimum over linear lower bounds of a convex
 * function plus a quadratic regularizer (Joachims 2006; Teo et al. 2010).
 *
 *   minimize |w|^2 / 2 + C max(0, max_k (b_k - w . a_k))   over w
 *   maximize b . l - |sum_k l_k a_k|^2 / 2                 over l >= 0, sum l <= C
 *
 * with w = sum_k l_k a_k. The solver changes two elements of l at a time, those with the largest
 * gain (second-order selection of Fan, Chen and Lin 2005). All numbers must be finite. At most
 * EK_CUTTING_PLANES_MAX planes are kept; the plane idle for longest is evicted. Deterministic. One
 * thread at a time.
 */
#ifndef EK_OFFLINE_SCALE_CUTTING_PLANES_H
#define EK_OFFLINE_SCALE_CUTTING_PLANES_H

#include "base/error.h"

#include <stddef.h>

enum { EK_CUTTING_PLANES_MAX = 1000 };

struct ek_cutting_planes;

/* Create a problem over w [columns] with c > 0. Return 0, or EK_ENOMEM. */
int ek_cutting_planes_new(struct ek_cutting_planes **out, size_t columns, double c,
                          struct ek_error *e);
void ek_cutting_planes_free(struct ek_cutting_planes *p);
/* Add a copy of the plane a [columns], b. Return 0, EK_ENOMEM, or EK_ESTATE if all
 * EK_CUTTING_PLANES_MAX planes have load. */
int ek_cutting_planes_add(struct ek_cutting_planes *p, const double *a, double b,
                          struct ek_error *e);
/* Solve until both objectives differ by at most `gap`, or rounding prevents progress, and set w
 * [columns]. Return the dual objective, a lower bound of the primal one. */
double ek_cutting_planes_solve(struct ek_cutting_planes *p, double gap, double *w);

#endif
