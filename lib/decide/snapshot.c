#include "decide/snapshot.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "decide/detector_internal.h"

#include <inttypes.h>
#include <string.h>

enum { VERSION = 1, TAG_BYTES = 4, CRC_BYTES = 4 };

static const uint8_t magic[] = {'E', 'K', 'S', 'N', 'A', 'P', '\r', '\n'};

/* What a snapshot begins with, behind magic and version. */
struct head {
    uint64_t bytes; /* of the whole snapshot */
    uint64_t manifest, profile;
    int features, query_features, strata, bets, bounds, history, cells, dimensions;
};

static struct head head_of(const struct ek_detector *d)
{
    return (struct head){
        .manifest = d->manifest->hash,
        .profile = ek_profile_hash(d->profile),
        .features = d->features,
        .query_features = d->query_features,
        .strata = d->profile->strata,
        .bets = EK_BETS,
        .bounds = EK_BOUNDS,
        .history = EK_HISTORY,
        .cells = ek_cells_limit(d->cells),
        .dimensions = ek_cells_dimensions(d->cells),
    };
}

static void head_snap(struct head *h, struct ek_snap *s)
{
    int *size[] = {&h->features, &h->query_features, &h->strata, &h->bets,
                   &h->bounds,   &h->history,        &h->cells,  &h->dimensions};
    ek_snap_u64(s, &h->bytes);
    ek_snap_u64(s, &h->manifest);
    ek_snap_u64(s, &h->profile);
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        ek_snap_int(s, size[i], 0, INT32_MAX);
}

/* Names of the dimensions; reading, whether they are those of the rules. */
static int names_snap(const struct ek_rules *rules, int count, struct ek_snap *s)
{
    int same = count == rules->segment_count;
    for (int i = 0; i < count && !s->rc; i++) {
        char *name = ek_snap_reads(s) ? NULL : rules->segment[i];
        ek_snap_text(s, &name);
        if (!ek_snap_reads(s))
            continue;
        same = same && name && !strcmp(name, rules->segment[i]);
        ek_free(name);
    }
    return same;
}

static void cells_section(struct ek_detector *d, struct ek_snap *s)
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

static void lists_section(struct ek_detector *d, struct ek_snap *s)
{
    int per_query = 1 + ek_cells_dimensions(d->cells);
    ek_snap_u64(s, &d->queries);
    ek_snap_raw(s, d->cell_of, (size_t)per_query * sizeof *d->cell_of);
    for (int i = 0; i < per_query; i++)
        ek_snap_require(s, d->cell_of[i] >= -1 && d->cell_of[i] < ek_cells_count(d->cells));
    ek_snap_raw(s, d->beyond.count, sizeof d->beyond.count);
    ek_repeats_snap(d->repeats, s, d->queries);
    ek_repeats_snap(d->relatives, s, d->queries);
}

static void history_section(struct ek_detector *d, struct ek_snap *s)
{
    ek_history_snap(d->history, s, d->profile->strata, ek_cells_count(d->cells));
    for (int f = 0; f < d->features; f++) {
        ek_snap_u64(s, &d->settled[f]);
        ek_snap_require(s, d->settled[f] <= ek_history_count(d->history));
    }
}

static void evidence_section(struct ek_detector *d, struct ek_snap *s)
{
    for (int cell = 0; cell < ek_cells_count(d->cells) && !s->rc; cell++)
        for (int f = 0; f < d->features; f++)
            ek_evidence_snap(&d->evidence[ek_detector_slot(d, cell, f)], s);
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

/* In the order of the file; a later one leans on those before. */
static const struct section {
    char tag[TAG_BYTES + 1];
    void (*walk)(struct ek_detector *d, struct ek_snap *s);
} sections[] = {
    {"CELL", cells_section},    {"LIST", lists_section},      {"HIST", history_section},
    {"EVID", evidence_section}, {"CATE", categories_section}, {"EPIS", ek_episodes_snap},
    {"FIND", ek_findings_snap},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* A section's length stands before it and is known behind it. */
static void write_section(struct ek_detector *d, struct ek_snap *s, const struct section *section)
{
    uint64_t length = 0;
    ek_snap_raw(s, (char *)section->tag, TAG_BYTES);
    ek_snap_u64(s, &length);
    size_t start = s->out->length;
    section->walk(d, s);
    length = s->out->length - start;
    if (!s->rc)
        memcpy(s->out->data + start - sizeof length, &length, sizeof length);
}

static void write_head(const struct ek_detector *d, struct ek_snap *s)
{
    struct head head = head_of(d);
    uint32_t version = VERSION;
    ek_snap_raw(s, (uint8_t *)magic, sizeof magic);
    ek_snap_u32(s, &version);
    head_snap(&head, s);
    names_snap(d->rules, head.dimensions, s);
}

/* The length and the checksum, once all else is there. */
static void seal(struct ek_snap *s, size_t start)
{
    struct ek_buf *out = s->out;
    uint64_t bytes = out->length - start + CRC_BYTES;
    if (s->rc)
        return;
    memcpy(out->data + start + sizeof magic + sizeof(uint32_t), &bytes, sizeof bytes);
    uint32_t crc = ek_crc32(out->data + start, out->length - start);
    ek_snap_u32(s, &crc);
}

int ek_detector_save(const struct ek_detector *d, struct ek_buf *out, struct ek_error *e)
{
    struct ek_snap s = {.out = out};
    size_t start = out->length;
    write_head(d, &s);
    for (int i = 0; i < SECTIONS && !s.rc; i++)
        write_section((struct ek_detector *)d, &s, &sections[i]); /* a walk that writes changes it
                                                                   * in nothing */
    seal(&s, start);
    if (!s.rc)
        return EK_OK;
    out->length = start;
    if (s.rc == EK_ELIMIT)
        return ek_fail(e, EK_ELIMIT, "a snapshot has more than %zu bytes", out->limit);
    return ek_fail(e, s.rc,
                   s.rc == EK_ENOMEM ? "out of memory" : "the detector's state is damaged");
}

/* Magic, version, length and checksum. */
static int check_frame(const uint8_t *bytes, size_t length, struct ek_error *e)
{
    enum { FRAME = sizeof magic + sizeof(uint32_t) + sizeof(uint64_t) };
    uint64_t told;
    uint32_t version, crc;
    if (length < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return ek_fail(e, EK_EFORMAT, "no snapshot: it does not begin with 'EKSNAP'");
    if (length < FRAME + CRC_BYTES)
        return ek_fail(e, EK_EFORMAT, "snapshot is cut off after %zu bytes", length);
    memcpy(&version, bytes + sizeof magic, sizeof version);
    memcpy(&told, bytes + sizeof magic + sizeof version, sizeof told);
    if (version != VERSION)
        return ek_fail(e, EK_ESTATE, "snapshot has version %" PRIu32 ", this program reads %d",
                       version, VERSION);
    if (told != length)
        return ek_fail(e, EK_EFORMAT, "snapshot has %zu of %" PRIu64 " bytes", length, told);
    memcpy(&crc, bytes + length - CRC_BYTES, CRC_BYTES);
    if (crc != ek_crc32(bytes, length - CRC_BYTES))
        return ek_fail(e, EK_EFORMAT, "snapshot is damaged: the checksum does not fit");
    return EK_OK;
}

static int check_head(const struct head *found, const struct head *own, struct ek_error *e)
{
    if (found->manifest != own->manifest)
        return ek_fail(e, EK_ESTATE,
                       "snapshot is of another manifest (%016" PRIx64 ", here %016" PRIx64 ")",
                       found->manifest, own->manifest);
    if (found->profile != own->profile)
        return ek_fail(e, EK_ESTATE,
                       "snapshot is of another profile (%016" PRIx64 ", here %016" PRIx64 ")",
                       found->profile, own->profile);
    if (found->cells != own->cells)
        return ek_fail(e, EK_ESTATE, "snapshot is of a detector with up to %d cells, this has %d",
                       found->cells, own->cells);
    if (found->features != own->features || found->query_features != own->query_features ||
        found->strata != own->strata || found->bets != own->bets || found->bounds != own->bounds ||
        found->history != own->history)
        return ek_fail(e, EK_ESTATE,
                       "snapshot is of another build of the detector: %d bets, %d "
                       "lists of history, here %d and %d",
                       found->bets, found->history, own->bets, own->history);
    return EK_OK;
}

static int damaged(int rc, const char *section, struct ek_error *e)
{
    if (rc == EK_ENOMEM)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return ek_fail(e, EK_EFORMAT, "snapshot is damaged: section '%s'", section);
}

static int read_head(const struct ek_detector *d, struct ek_snap *s, struct ek_error *e)
{
    struct head found, own = head_of(d);
    s->at += sizeof magic + sizeof(uint32_t);
    head_snap(&found, s);
    int rc = s->rc ? damaged(s->rc, "head", e) : check_head(&found, &own, e);
    if (rc)
        return rc;
    int same = names_snap(d->rules, found.dimensions, s);
    if (s->rc)
        return damaged(s->rc, "head", e);
    return same ? EK_OK
                : ek_fail(e, EK_ESTATE,
                          "snapshot is of other segment dimensions than those of the rules");
}

/* All of the section must be used up. */
static int read_section(struct ek_detector *d, struct ek_snap *all, const struct section *section,
                        struct ek_error *e)
{
    char tag[TAG_BYTES];
    uint64_t length;
    ek_snap_raw(all, tag, sizeof tag);
    ek_snap_u64(all, &length);
    ek_snap_require(all, !memcmp(tag, section->tag, sizeof tag) &&
                             length <= (uint64_t)(all->end - all->at));
    if (all->rc)
        return damaged(all->rc, section->tag, e);
    struct ek_snap s = {.at = all->at, .end = all->at + length};
    section->walk(d, &s);
    ek_snap_require(&s, s.at == s.end);
    all->at = s.end;
    return s.rc ? damaged(s.rc, section->tag, e) : EK_OK;
}

static int read_all(struct ek_detector *d, const uint8_t *bytes, size_t length, struct ek_error *e)
{
    struct ek_snap s = {.at = bytes, .end = bytes + length - CRC_BYTES};
    int rc = read_head(d, &s, e);
    for (int i = 0; i < SECTIONS && !rc; i++)
        rc = read_section(d, &s, &sections[i], e);
    if (!rc && s.at != s.end)
        rc = damaged(EK_EFORMAT, "behind the last", e);
    return rc;
}

int ek_detector_restore(struct ek_detector **out, const struct ek_manifest *m,
                        const struct ek_profile *p, const struct ek_rules *rules, int cells,
                        const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_detector *d = NULL;
    int rc = check_frame(bytes, length, e);
    if (!rc)
        rc = ek_detector_new_with(&d, m, p, rules, cells, e);
    if (!rc)
        rc = read_all(d, bytes, length, e);
    if (rc)
        ek_detector_free(d);
    else
        *out = d;
    return rc;
}
