/* Findings that nobody has fetched yet, as a part of the state. */
#include "base/alloc.h"
#include "detect/detector_internal.h"

static const char *signal_name(int i)
{
    return i < EK_BETS ? ek_bet_name(i) : ek_category_bet_name(i);
}

/* A conversion that is not among those of the rules now is left out. */
static void units_snap(struct ek_detector *d, struct ek_finding *f, struct ek_snap *s)
{
    int count = f->unit_count, kept = 0;
    ek_snap_int(s, &count, 0, EK_UNIT_MATCHES);
    for (int i = 0; i < count && !s->rc; i++) {
        struct ek_unit_match *match = &f->unit[kept];
        char *id = ek_snap_reads(s) ? NULL : (char *)match->unit->id;
        int fit = (int)match->fit;
        ek_snap_text(s, &id);
        ek_snap_int(s, &match->listed, 0, 1);
        ek_snap_int(s, &fit, EK_UNIT_SAME, EK_UNIT_OTHER);
        match->fit = (enum ek_unit_fit)fit;
        if (ek_snap_reads(s)) {
            match->unit = id ? ek_units_find(&d->rules->units, id) : NULL;
            ek_free(id);
        }
        kept += match->unit != NULL;
    }
    f->unit_count = kept;
}

static void words_snap(struct ek_finding *f, struct ek_snap *s)
{
    int state = (int)f->state, class = (int)f->class;
    ek_snap_int(s, &state, EK_SUSPECTED, EK_RECOVERED);
    ek_snap_int(s, &class, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    f->state = (enum ek_finding_state)state;
    f->class = (enum ek_class) class;
    ek_snap_word(s, &f->signal, signal_name, EK_BET_VALUE_GONE + 1);
    ek_snap_require(s, f->signal != NULL);
    ek_snap_word(s, &f->reason, ek_reason_text, EK_REASONS);
}

static void numbers_snap(struct ek_finding *f, struct ek_snap *s)
{
    ek_snap_u32(s, &f->episode);
    ek_snap_u32(s, &f->cause);
    ek_snap_u64(s, &f->query);
    ek_snap_u64(s, &f->since_query);
    ek_snap_i64(s, &f->time_ms);
    ek_snap_i64(s, &f->since_ms);
    ek_snap_f64(s, &f->factor);
    ek_snap_f64(s, &f->factor_low);
    ek_snap_f64(s, &f->factor_high);
    ek_snap_f64(s, &f->error_ln);
    ek_snap_f64(s, &f->share);
    ek_snap_f64(s, &f->spread_ratio);
    ek_snap_f64(s, &f->exponent);
    int flags = f->fewer | f->passing << 1;
    ek_snap_int(s, &flags, 0, 3);
    f->fewer = flags & 1;
    f->passing = flags >> 1;
}

/* No cell changes hands while a finding waits: its value is that of its cell. */
static void finding_snap(struct ek_detector *d, struct ek_finding *f, struct ek_snap *s)
{
    words_snap(f, s);
    numbers_snap(f, s);
    ek_snap_int(s, &f->feature, 0, d->features - 1);
    ek_snap_int(s, &f->cell, 0, ek_cells_count(d->cells) - 1);
    ek_snap_int(s, &f->query_feature, -1, d->query_features - 1);
    ek_category_changes_snap(f->category, &f->category_count, s);
    units_snap(d, f, s);
    if (!ek_snap_reads(s))
        return;
    f->dimension = ek_cells_dimension_name(d->cells, f->cell);
    f->value = ek_cells_value(d->cells, f->cell);
}

void ek_findings_snap(struct ek_detector *d, struct ek_snap *s)
{
    ek_snap_u64(s, &d->findings);
    ek_snap_u64(s, &d->fetched);
    ek_snap_require(s, d->fetched <= d->findings && d->findings - d->fetched <= EK_FINDINGS_MAX);
    for (uint64_t i = d->fetched; i < d->findings && !s->rc; i++)
        finding_snap(d, &d->finding[i % EK_FINDINGS_MAX], s);
}
