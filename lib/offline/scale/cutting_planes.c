#include "offline/scale/cutting_planes.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { IDLE_ROUNDS = 50, STEPS_MAX = 200000, FIRST_ROOM = 32 };

/* Plane 0 is the zero plane; its load is C minus the load of all others. */
struct ek_cutting_planes {
    size_t columns;
    double c;
    int count, room;
    double *a;     /* [room, columns] */
    double *b;     /* [room] */
    double *gram;  /* [room, room], inner products */
    double *load;  /* [room] l */
    double *slope; /* [room] b - gram l: height of the plane above w */
    int *idle;     /* [room], consecutive solutions without load */
};

static double *gram_row(const struct ek_cutting_planes *p, int i)
{
    return p->gram + (size_t)i * (size_t)p->room;
}

static bool grow_one(double **field, size_t count)
{
    double *grown = ek_realloc(*field, count, sizeof *grown);
    if (grown)
        *field = grown;
    return grown;
}

static int grow(struct ek_cutting_planes *p, struct ek_error *e)
{
    int room = p->room ? 2 * p->room : FIRST_ROOM;
    if (room > EK_CUTTING_PLANES_MAX)
        room = EK_CUTTING_PLANES_MAX;
    double *gram = ek_calloc((size_t)room, (size_t)room * sizeof *gram);
    int *idle = gram ? ek_realloc(p->idle, (size_t)room, sizeof *idle) : NULL;
    if (idle)
        p->idle = idle;
    if (!idle || !grow_one(&p->a, (size_t)room * p->columns) || !grow_one(&p->b, (size_t)room) ||
        !grow_one(&p->load, (size_t)room) || !grow_one(&p->slope, (size_t)room)) {
        ek_free(gram);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    for (int i = 0; i < p->count; i++)
        memcpy(gram + (size_t)i * (size_t)room, gram_row(p, i), (size_t)p->count * sizeof *gram);
    ek_free(p->gram);
    p->gram = gram;
    p->room = room;
    return EK_OK;
}

int ek_cutting_planes_new(struct ek_cutting_planes **out, size_t columns, double c,
                          struct ek_error *e)
{
    struct ek_cutting_planes *p = ek_calloc(1, sizeof *p);
    double *zero = ek_calloc(columns, sizeof *zero);
    int rc = EK_ENOMEM;
    if (p && zero) {
        p->columns = columns;
        rc = ek_cutting_planes_add(p, zero, 0, e);
    } else {
        ek_fail(e, EK_ENOMEM, "out of memory");
    }
    ek_free(zero);
    if (rc) {
        ek_cutting_planes_free(p);
        return rc;
    }
    p->c = p->load[0] = c;
    *out = p;
    return EK_OK;
}

void ek_cutting_planes_free(struct ek_cutting_planes *p)
{
    if (!p)
        return;
    ek_free(p->a);
    ek_free(p->b);
    ek_free(p->gram);
    ek_free(p->load);
    ek_free(p->slope);
    ek_free(p->idle);
    ek_free(p);
}

/* Move the last plane to the place of the removed one. */
static void remove_plane(struct ek_cutting_planes *p, int i)
{
    int last = --p->count;
    if (i == last)
        return;
    memcpy(p->a + (size_t)i * p->columns, p->a + (size_t)last * p->columns,
           p->columns * sizeof *p->a);
    p->b[i] = p->b[last];
    p->load[i] = p->load[last];
    p->idle[i] = p->idle[last];
    double own = gram_row(p, last)[last];
    for (int k = 0; k < last; k++)
        gram_row(p, i)[k] = gram_row(p, k)[i] = gram_row(p, last)[k];
    gram_row(p, i)[i] = own;
}

/* Return the plane that was idle for most rounds, at least `rounds`, or -1. */
static int idlest(const struct ek_cutting_planes *p, int rounds)
{
    int found = -1;
    for (int i = 1; i < p->count; i++)
        if (p->idle[i] >= rounds && (found < 0 || p->idle[i] > p->idle[found]))
            found = i;
    return found;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

int ek_cutting_planes_add(struct ek_cutting_planes *p, const double *a, double b,
                          struct ek_error *e)
{
    int old = idlest(p, p->count >= EK_CUTTING_PLANES_MAX ? 1 : IDLE_ROUNDS);
    if (old >= 0)
        remove_plane(p, old);
    if (p->count >= EK_CUTTING_PLANES_MAX)
        return ek_fail(e, EK_ESTATE, "more than %d planes are needed", EK_CUTTING_PLANES_MAX);
    int rc = p->count == p->room ? grow(p, e) : EK_OK;
    if (rc)
        return rc;
    int k = p->count++;
    double *own = p->a + (size_t)k * p->columns;
    memcpy(own, a, p->columns * sizeof *a);
    p->b[k] = b;
    p->load[k] = 0;
    p->idle[k] = 0;
    for (int i = 0; i <= k; i++)
        gram_row(p, i)[k] = gram_row(p, k)[i] = dot(own, p->a + (size_t)i * p->columns, p->columns);
    return EK_OK;
}

static void set_slopes(struct ek_cutting_planes *p)
{
    for (int i = 0; i < p->count; i++)
        p->slope[i] = p->b[i] - dot(gram_row(p, i), p->load, (size_t)p->count);
}

static int highest(const struct ek_cutting_planes *p)
{
    int found = 0;
    for (int i = 1; i < p->count; i++)
        if (p->slope[i] > p->slope[found])
            found = i;
    return found;
}

/* Return the curvature for a move of load from j to i. The lower bound lets two equal planes
 * exchange all load in one step. */
static double curvature(const struct ek_cutting_planes *p, int i, int j)
{
    double own = gram_row(p, i)[i] + gram_row(p, j)[j];
    return fmax(own - 2 * gram_row(p, i)[j], 1e-14 * own);
}

/* Return the plane from which a move of load to `i` raises the objective most, or -1. */
static int giver(const struct ek_cutting_planes *p, int i)
{
    int found = -1;
    double best = 0;
    for (int j = 0; j < p->count; j++) {
        double rise = p->slope[i] - p->slope[j];
        if (!(p->load[j] > 0) || !(rise > 0))
            continue;
        double bend = curvature(p, i, j), gain = bend > 0 ? rise * rise / bend : INFINITY;
        if (found < 0 || gain > best) {
            found = j;
            best = gain;
        }
    }
    return found;
}

static void move_load(struct ek_cutting_planes *p, int i, int j)
{
    double step = (p->slope[i] - p->slope[j]) / curvature(p, i, j);
    if (!(step < p->load[j])) {
        step = p->load[j];
        p->load[j] = 0;
    } else {
        p->load[j] -= step;
    }
    p->load[i] += step;
    const double *more = gram_row(p, i), *less = gram_row(p, j);
    for (int k = 0; k < p->count; k++)
        p->slope[k] -= step * (more[k] - less[k]);
}

double ek_cutting_planes_solve(struct ek_cutting_planes *p, double gap, double *w)
{
    set_slopes(p);
    for (int step = 0; step < STEPS_MAX; step++) {
        int i = highest(p), j = giver(p, i);
        double apart = p->c * p->slope[i] - dot(p->load, p->slope, (size_t)p->count);
        if (j < 0 || apart <= gap)
            break;
        move_load(p, i, j);
    }
    memset(w, 0, p->columns * sizeof *w);
    for (int i = 0; i < p->count; i++) {
        const double *a = p->a + (size_t)i * p->columns;
        p->idle[i] = p->load[i] > 0 ? 0 : p->idle[i] + 1;
        if (p->load[i] > 0)
            for (size_t k = 0; k < p->columns; k++)
                w[k] += p->load[i] * a[k];
    }
    return dot(p->b, p->load, (size_t)p->count) - dot(w, w, p->columns) / 2;
}
