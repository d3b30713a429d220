#include "num/histogram.h"

#include "num/sketch_stats.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

/* Fraction of the values of a sign beyond each end of the bins; smallest bin width in ln. */
static const double BEYOND = .001, NARROWEST = .02;

enum kind { ZERO, NEGATIVE, POSITIVE, INFINITE_VALUE };

static enum kind kind_of(uint16_t key)
{
    bool negative = key >= EK_SKETCH_NEG_ZERO;
    uint16_t size = negative ? key - EK_SKETCH_NEG_ZERO : key;
    if (!size)
        return ZERO;
    return size >= EK_SKETCH_INF ? INFINITE_VALUE : negative ? NEGATIVE : POSITIVE;
}

static double ln_of(uint16_t key)
{
    return ek_sketch_ln(key >= EK_SKETCH_NEG_ZERO ? (uint16_t)(key - EK_SKETCH_NEG_ZERO) : key);
}

struct range {
    double low, high; /* ln; empty if low > high */
};

static void widen(struct range *r, double ln)
{
    r->low = fmin(r->low, ln);
    r->high = fmax(r->high, ln);
}

/* Extend the range of a sign to the middle quantiles of a sketch. */
static void middle(const struct ek_sketch *s, enum kind kind, struct range *r)
{
    double all = 0, seen = 0;
    struct ek_sketch_walk w = ek_sketch_walk_init(s);
    while (ek_sketch_walk_next(&w))
        if (kind_of(w.key) == kind)
            all += (double)w.count;
    w = ek_sketch_walk_init(s);
    while (ek_sketch_walk_next(&w)) {
        if (kind_of(w.key) != kind)
            continue;
        double before = seen;
        seen += (double)w.count;
        if (seen > BEYOND * all && before < (1 - BEYOND) * all)
            widen(r, ln_of(w.key));
    }
}

static void place_bins(struct ek_histogram *h, const struct range range[EK_HISTOGRAM_SIGNS])
{
    double span = 0;
    int signs = 0;
    for (int i = 0; i < EK_HISTOGRAM_SIGNS; i++)
        if (range[i].low <= range[i].high) {
            span += range[i].high - range[i].low;
            signs++;
        }
    /* Reserves a bin per sign, because each sign rounds up to whole bins. */
    h->width_ln = fmax(span / (EK_HISTOGRAM_BINS - EK_HISTOGRAM_SIGNS), NARROWEST);
    for (int i = 0; signs && i < EK_HISTOGRAM_SIGNS; i++) {
        double length = range[i].high - range[i].low;
        bool some = range[i].low <= range[i].high;
        h->bins[i] = some ? (int)fmax(ceil(length / h->width_ln), 1) : 0;
        h->low_ln[i] = some ? range[i].low - (h->bins[i] * h->width_ln - length) / 2 : 0;
    }
}

static int bin_of(const struct ek_histogram *h, int sign, double ln)
{
    double at = floor((ln - h->low_ln[sign]) / h->width_ln);
    int last = h->bins[sign] - 1, first = sign == EK_HISTOGRAM_NEGATIVE ? 0 : h->bins[0];
    return first + (at < 0 ? 0 : at > last ? last : (int)at);
}

static void fill(const struct ek_histogram *h, const struct ek_sketch *s,
                 struct ek_histogram_side *side)
{
    double items = (double)(side->items = ek_sketch_total(s));
    struct ek_sketch_walk w = ek_sketch_walk_init(s);
    if (!side->items)
        return;
    side->missing = (float)((double)ek_sketch_count(s, EK_SKETCH_NAN) / items);
    while (ek_sketch_walk_next(&w)) {
        float share = (float)((double)w.count / items);
        enum kind kind = kind_of(w.key);
        if (kind == ZERO)
            side->zero += share;
        else if (kind == INFINITE_VALUE)
            side->infinite += share;
        else
            side->share[bin_of(h, kind == POSITIVE, ln_of(w.key))] += share;
    }
}

void ek_histogram_build(const struct ek_sketch *training, const struct ek_sketch *recent,
                        struct ek_histogram *out)
{
    struct range range[] = {{(double)INFINITY, (double)-INFINITY},
                            {(double)INFINITY, (double)-INFINITY}};
    *out = (struct ek_histogram){0};
    for (int i = 0; i < EK_HISTOGRAM_SIGNS; i++) {
        middle(training, i == EK_HISTOGRAM_POSITIVE ? POSITIVE : NEGATIVE, &range[i]);
        middle(recent, i == EK_HISTOGRAM_POSITIVE ? POSITIVE : NEGATIVE, &range[i]);
    }
    place_bins(out, range);
    fill(out, training, &out->side[EK_HISTOGRAM_TRAINING]);
    fill(out, recent, &out->side[EK_HISTOGRAM_RECENT]);
}

static int add_pair(const char *name, float training, float recent, struct ek_buf *out)
{
    return ek_buf_printf(out, ",\"%s\":{\"training\":%.4g,\"current\":%.4g}", name,
                         (double)training, (double)recent);
}

/* Append one bin. Negative bins are written from the largest |x|, so values ascend. */
static int add_bin(const struct ek_histogram *h, int sign, int bin, bool first, struct ek_buf *out)
{
    int at = sign == EK_HISTOGRAM_NEGATIVE ? bin : h->bins[0] + bin;
    double near = exp(h->low_ln[sign] + bin * h->width_ln), far = near * exp(h->width_ln);
    bool negative = sign == EK_HISTOGRAM_NEGATIVE;
    return ek_buf_printf(out, "%s{\"low\":%.5g,\"high\":%.5g,\"training\":%.4g,\"current\":%.4g}",
                         first ? "" : ",", negative ? -far : near, negative ? -near : far,
                         (double)h->side[EK_HISTOGRAM_TRAINING].share[at],
                         (double)h->side[EK_HISTOGRAM_RECENT].share[at]);
}

int ek_histogram_json(const struct ek_histogram *h, struct ek_buf *out)
{
    const struct ek_histogram_side *t = &h->side[EK_HISTOGRAM_TRAINING],
                                   *r = &h->side[EK_HISTOGRAM_RECENT];
    int count = 0;
    ek_buf_printf(out, "{\"training_items\":%" PRIu64 ",\"current_items\":%" PRIu64, t->items,
                  r->items);
    add_pair("missing", t->missing, r->missing, out);
    add_pair("zero", t->zero, r->zero, out);
    add_pair("infinite", t->infinite, r->infinite, out);
    ek_buf_text(out, ",\"bins\":[");
    for (int i = h->bins[EK_HISTOGRAM_NEGATIVE]; i-- > 0;)
        add_bin(h, EK_HISTOGRAM_NEGATIVE, i, !count++, out);
    for (int i = 0; i < h->bins[EK_HISTOGRAM_POSITIVE]; i++)
        add_bin(h, EK_HISTOGRAM_POSITIVE, i, !count++, out);
    return ek_buf_text(out, "]}");
}
