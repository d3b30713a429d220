#include "offline/scale/fdm.h"

#include <math.h>
#include <stdio.h>

/* Relative tolerance, because sums of estimates are not whole numbers. */
static const double SAME = 1e-9;

static int interval(double x, double min, double max)
{
    int j = (int)((x - min) * EK_FDM_INTERVALS / (max - min));
    return j < EK_FDM_INTERVALS ? j : EK_FDM_INTERVALS - 1;
}

static void cut(const struct ek_values *v, struct ek_fdm *f, double in[EK_FDM_INTERVALS])
{
    f->min = (double)v->value[0].x;
    f->max = (double)v->value[v->entries - 1].x;
    for (size_t i = 0; i < v->entries; i++) {
        double x = (double)v->value[i].x;
        in[f->max > f->min ? interval(x, f->min, f->max) : 0] += (double)v->value[i].unique;
    }
}

static bool more_than(double part, double parts, double wholes, double whole)
{
    return part * wholes > whole * parts * (1 + SAME);
}

static enum ek_fdm_category category(double first, double last, double most, double all)
{
    if (all < 3)
        return EK_FDM_C4;
    if (more_than(first, 4, 5, all))
        return EK_FDM_C2;
    if (more_than(last, 4, 5, all))
        return EK_FDM_C3;
    return more_than(most, 1, 5, all) ? EK_FDM_NONE : EK_FDM_C1;
}

void ek_fdm(const struct ek_values *v, struct ek_fdm *out)
{
    struct ek_fdm f = {.min = NAN, .max = NAN, .unique = v->unique, .exact = v->exact};
    double in[EK_FDM_INTERVALS] = {0}, first = 0, last = 0, most = 0, all = 0;
    if (v->entries)
        cut(v, &f, in);
    for (int j = 0; j < EK_FDM_INTERVALS; j++) {
        *(j < EK_FDM_INTERVALS / 2 ? &first : &last) += in[j];
        most = fmax(most, in[j]);
        all += in[j];
    }
    for (int j = 0; j < EK_FDM_INTERVALS && all > 0; j++)
        f.share[j] = in[j] / all;
    if (all > 0) {
        f.first = first / all;
        f.last = last / all;
        f.most = most / all;
    }
    f.category = category(first, last, most, v->exact ? all : round(all));
    f.scale = f.category == EK_FDM_C2   ? EK_SCALE_LOG
              : f.category == EK_FDM_C3 ? EK_SCALE_LOG_REVERSED
                                        : EK_SCALE_MINMAX;
    *out = f;
}

const char *ek_fdm_name(enum ek_fdm_category c)
{
    static const char *const NAMES[] = {"-", "C1", "C2", "C3", "C4"};
    return NAMES[c];
}

/* Print more digits if rounding shows a fraction equal to the limit, and ">99%" instead of 100% for
 * less than all. */
static void percent(char *text, size_t size, double share, double limit)
{
    double whole = round(share * 100);
    bool misread = whole == round(limit * 100) && fabs(share - limit) > SAME;
    if (whole >= 100 && share < 1)
        snprintf(text, size, ">99%%");
    else
        snprintf(text, size, misread ? "%.5g%%" : "%.0f%%", share * 100);
}

void ek_fdm_reason(const struct ek_fdm *f, char *text, size_t size)
{
    char share[32];
    const char *about = f->exact ? "" : "about ";
    double unique = round(f->unique);
    switch (f->category) {
    case EK_FDM_C4:
        snprintf(text, size, "%s%.0f unique value%s", about, unique, unique == 1 ? "" : "s");
        return;
    case EK_FDM_C2:
    case EK_FDM_C3:
        percent(share, sizeof share, f->category == EK_FDM_C2 ? f->first : f->last, .8);
        snprintf(text, size, "%s of %s%.0f unique values in the %s five of ten intervals", share,
                 about, unique, f->category == EK_FDM_C2 ? "first" : "last");
        return;
    default:
        percent(share, sizeof share, f->most, .2);
        snprintf(text, size, "%s%s of %s%.0f unique values in one of ten intervals",
                 f->category == EK_FDM_C1 ? "at most " : "", share, about, unique);
    }
}

void ek_fdm_brief(const struct ek_fdm *f, char *text, size_t size)
{
    char share[32];
    double unique = round(f->unique), limit = .8, which = f->first;
    const char *where = "lower half", *about = f->exact ? "" : "~";
    if (f->category == EK_FDM_C4) {
        snprintf(text, size, "%.0f unique value%s", unique, unique == 1 ? "" : "s");
        return;
    }
    if (f->category == EK_FDM_C3) {
        which = f->last;
        where = "upper half";
    } else if (f->category != EK_FDM_C2) {
        which = f->most;
        where = "one tenth";
        limit = .2;
    }
    percent(share, sizeof share, which, limit);
    snprintf(text, size, "%s of %s%.0f in %s", share, about, unique, where);
}
