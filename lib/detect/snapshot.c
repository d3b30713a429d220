#include "detect/snapshot.h"

#include "base/alloc.h"
#include "detect/detector_internal.h"
#include "detect/snapshot_frame.h"

#include <inttypes.h>
#include <string.h>

static struct ek_snapshot_head head_of(const struct ek_detector *d)
{
    return (struct ek_snapshot_head){
        .manifest = d->manifest->hash,
        .kind = ek_detector_kind_of(d),
    };
}

/* Reading, whether the text is the one that it should be. */
static bool text_snap(const char *own, struct ek_snap *s)
{
    char *text = ek_snap_reads(s) ? NULL : (char *)own;
    ek_snap_text(s, &text);
    bool same = text && !strcmp(text, own);
    if (ek_snap_reads(s))
        ek_free(text);
    return same;
}

/* Names of the item features and of the segment dimensions; reading, whether the latter are those
 * of the rules. */
static bool names_snap(const struct ek_detector *d, int dimensions, struct ek_snap *s)
{
    for (int f = 0; f < d->features && !s->rc; f++)
        ek_snap_require(s, text_snap(d->manifest->item[f]->name, s));
    bool same = dimensions == d->rules->segment_count;
    for (int i = 0; i < dimensions && same && !s->rc; i++)
        same = text_snap(d->rules->segment[i], s);
    return same;
}

void ek_detector_cells_snap(struct ek_detector *d, struct ek_snap *s)
{
    ek_cells_snap(d->cells, s);
    if (ek_snap_reads(s) && !s->rc)
        s->rc = ek_detector_grow(d, ek_cells_count(d->cells));
    for (int cell = 0; cell < ek_cells_count(d->cells) && !s->rc; cell++) {
        ek_snap_raw(s, &d->planned[cell], 1);
        ek_snap_require(s, d->planned[cell] <= 1);
        if (ek_snap_reads(s) && d->planned[cell])
            ek_cells_hold(d->cells, cell);
    }
}

void ek_detector_lists_snap(struct ek_detector *d, struct ek_snap *s)
{
    int per_query = 1 + ek_cells_dimensions(d->cells);
    ek_snap_u64(s, &d->queries);
    ek_snap_raw(s, d->cell_of, (size_t)per_query * sizeof *d->cell_of);
    for (int i = 0; i < per_query; i++)
        ek_snap_require(s, d->cell_of[i] >= -1 && d->cell_of[i] < ek_cells_count(d->cells));
    ek_snap_raw(s, d->beyond.count, EK_BOUNDS * sizeof *d->beyond.count);
    ek_repeats_snap(d->repeats, s, d->queries);
    ek_repeats_snap(d->relatives, s, d->queries);
}

void ek_detector_settled_snap(struct ek_detector *d, struct ek_snap *s)
{
    for (int f = 0; f < d->features; f++) {
        ek_snap_u64(s, &d->settled[f]);
        ek_snap_require(s, d->settled[f] <= ek_history_count(d->history));
    }
}

static void history_section(struct ek_detector *d, struct ek_snap *s)
{
    ek_history_snap(d->history, s, d->profile->strata, ek_cells_count(d->cells));
    ek_detector_settled_snap(d, s);
}

static void evidence_section(struct ek_detector *d, struct ek_snap *s)
{
    for (int cell = 0; cell < ek_cells_count(d->cells) && !s->rc; cell++)
        ek_evidence_cells_snap(d->evidence, cell, s);
    int baseline = d->baseline;
    ek_snap_int(s, &baseline, d->baseline, d->baseline);
    for (int cell = 0; d->habits && cell < ek_cells_count(d->cells) && !s->rc; cell++)
        if (ek_cells_dimension(d->cells, cell) == d->baseline)
            ek_habits_snap(d->habits, s, cell);
}

static void categories_section(struct ek_detector *d, struct ek_snap *s)
{
    ek_categories_snap(d->categories, s, ek_cells_count(d->cells), ek_history_first(d->history),
                       ek_history_count(d->history));
}

/* In the order of the file; a later one leans on those before. The last is left out where nobody
 * ever said what is normal. */
static const struct section {
    const char *tag;
    void (*walk)(struct ek_detector *d, struct ek_snap *s);
} sections[] = {
    {"CELL", ek_detector_cells_snap}, {"LIST", ek_detector_lists_snap},
    {"HIST", history_section},        {"EVID", evidence_section},
    {"CATE", categories_section},     {"EPIS", ek_episodes_snap},
    {"FIND", ek_findings_snap},       {"ACCE", ek_detector_rebases_snap},
};
enum { SECTIONS = sizeof sections / sizeof *sections, ACCEPTS = SECTIONS - 1 };

int ek_detector_save(const struct ek_detector *d, struct ek_buf *out, struct ek_error *e)
{
    struct ek_snap s = {.out = out};
    size_t start = out->length;
    struct ek_snapshot_head head = head_of(d);
    ek_snapshot_begin(&head, &s);
    names_snap(d, head.kind.dimensions, &s);
    for (int i = 0; i < (d->rebases.version ? SECTIONS : ACCEPTS) && !s.rc; i++) {
        size_t section = ek_snapshot_section(&s, sections[i].tag);
        sections[i].walk((struct ek_detector *)d, &s); /* changes nothing when it writes */
        ek_snapshot_section_end(&s, section);
    }
    ek_snapshot_seal(&s, start);
    if (!s.rc)
        return EK_OK;
    out->length = start;
    if (s.rc == EK_ELIMIT)
        return ek_fail(e, EK_ELIMIT, "a snapshot has more than %zu bytes", out->limit);
    return ek_fail(e, s.rc,
                   s.rc == EK_ENOMEM ? "out of memory" : "the detector's state is damaged");
}

static int check_head(const struct ek_snapshot_head *found, const struct ek_snapshot_head *own,
                      struct ek_error *e)
{
    const struct ek_detector_kind *then = &found->kind, *now = &own->kind;
    if (found->manifest != own->manifest)
        return ek_fail(e, EK_ESTATE,
                       "snapshot is of another manifest (%016" PRIx64 ", here %016" PRIx64 ")",
                       found->manifest, own->manifest);
    if (then->profile != now->profile)
        return ek_fail(e, EK_ESTATE,
                       "snapshot is of another profile (%016" PRIx64 ", here %016" PRIx64 ")",
                       then->profile, now->profile);
    if (then->cells != now->cells)
        return ek_fail(e, EK_ESTATE, "snapshot is of a detector with up to %d cells, this has %d",
                       then->cells, now->cells);
    if (then->features != now->features || then->query_features != now->query_features ||
        then->strata != now->strata || then->bets != now->bets || then->bounds != now->bounds ||
        then->history != now->history)
        return ek_fail(e, EK_ESTATE,
                       "snapshot is of another build of the detector: %d bets, %d "
                       "lists of history, here %d and %d",
                       then->bets, then->history, now->bets, now->history);
    return EK_OK;
}

static int read_head(const struct ek_detector *d, struct ek_snap *s, struct ek_error *e)
{
    struct ek_snapshot_head found, own = head_of(d);
    ek_snapshot_head_snap(&found, s);
    int rc = s->rc ? ek_snapshot_damaged(s->rc, "head", e) : check_head(&found, &own, e);
    if (rc)
        return rc;
    bool same = names_snap(d, found.kind.dimensions, s);
    if (s->rc)
        return ek_snapshot_damaged(s->rc, "names", e);
    return same ? EK_OK
                : ek_fail(e, EK_ESTATE,
                          "snapshot is of other segment dimensions than those of the rules");
}

static int read_section(struct ek_detector *d, struct ek_snap *s, int i, struct ek_error *e)
{
    struct ek_snap section = ek_snapshot_take(s, sections[i].tag);
    if (!section.rc)
        sections[i].walk(d, &section);
    ek_snap_require(&section, section.at == section.end);
    return section.rc ? ek_snapshot_damaged(section.rc, sections[i].tag, e) : EK_OK;
}

static bool begins(const struct ek_snap *s, const char *tag)
{
    return (size_t)(s->end - s->at) >= strlen(tag) && !memcmp(s->at, tag, strlen(tag));
}

static int read_all(struct ek_detector *d, struct ek_snap *s, struct ek_error *e)
{
    int rc = read_head(d, s, e);
    for (int i = 0; i < ACCEPTS && !rc; i++)
        rc = read_section(d, s, i, e);
    if (!rc && begins(s, sections[ACCEPTS].tag))
        rc = read_section(d, s, ACCEPTS, e);
    return !rc && s->at != s->end ? ek_snapshot_damaged(EK_EFORMAT, "behind the last section", e)
                                  : rc;
}

int ek_detector_restore(struct ek_detector **out, const struct ek_manifest *m,
                        const struct ek_profile *p, const struct ek_rules *rules, int cells,
                        const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_detector *d = NULL;
    struct ek_snap s;
    int rc = ek_snapshot_open(bytes, length, &s, e);
    if (!rc)
        rc = ek_detector_new_with(&d, m, p, rules, cells, e);
    if (!rc)
        rc = read_all(d, &s, e);
    if (rc)
        ek_detector_free(d);
    else
        *out = d;
    return rc;
}
