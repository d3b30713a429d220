/* A finding in the records of a fleet: numbers and names, no texts of the detector. */
#ifndef EK_FLEET_EVIDENCE_REPORT_H
#define EK_FLEET_EVIDENCE_REPORT_H

#include "detect/cells.h"
#include "detect/evidence_export.h"
#include "detect/finding.h"
#include "fleet/fleet_codec.h"
#include "rules/rules.h"
#include "schema/manifest.h"

/* A confirmed one. Read, its cell and texts are not filled in, nor are units and categories;
 * feature is -1 when the manifest has none of its name. */
void ek_fleet_finding_walk(struct ek_serialize *w, const struct ek_manifest *m,
                           struct ek_finding *f);
/* Fills in which conversions its factor looks like, which no record has. */
void ek_fleet_finding_match_units(struct ek_finding *f, const struct ek_rules *rules,
                                  const struct ek_manifest *m);

/* The tick record: what one instance saw since its last one (docs/format/fleet.md).
 *
 * Cells go by their names, since the same value has another number in each instance; features by
 * their numbers, which the manifest's hash is there for. An instance numbers its ticks from 1, and
 * `start` tells one run of it from the next: so a record that comes twice, late or out of order is
 * known as such. The confirmed findings of the instance are in every record, all of them: the
 * newest record holds what is true.
 */
struct ek_detector;

enum {
    EK_FLEET_CELLS_MAX = 4096,       /* in a record */
    EK_FLEET_LISTS_MAX = 1 << 24,    /* of a tick */
    EK_FLEET_CELLS_DEFAULT_MAX = 32, /* that a tick tells of; all traffic first */
};

/* What the records of an instance begin with. Texts are views. */
struct ek_fleet_head {
    struct ek_text instance;
    uint64_t start;  /* of this run, a later one has a larger number; the time in ms, say */
    uint64_t number; /* from 1 */
    uint64_t manifest, profile;
    int64_t time_ms; /* highest time of a list so far */
    struct ek_fleet_dimensions dimensions;
    uint64_t normal; /* of a tick: version of what is normal, which its lists were held against */
    uint64_t row;    /* of a tick that is written: the first row that is not in an earlier one */
};

/* Texts of the registry. */
void ek_fleet_dimensions_get(struct ek_fleet_dimensions *out, const struct ek_cells *cells);
struct ek_fleet_cell ek_fleet_cell_get(const struct ek_cells *cells, int cell);
void ek_fleet_head_walk(struct ek_serialize *w, struct ek_fleet_head *h);
/* Begin to read a record (`what`, for messages) and read its head. EK_EFORMAT, EK_ESTATE for
 * another manifest; a damaged head shows in ek_record_reader_is_done. */
int ek_fleet_head_open(struct ek_serialize *w, const void *bytes, size_t length,
                       enum ek_fleet_kind kind, const struct ek_manifest *m,
                       struct ek_fleet_head *h, const char *what, struct ek_error *e);

/* Adds the record of what the detector has in its tick, which stays; `cells` at most. `head` but
 * for its dimensions is the caller's. EK_ENOMEM, EK_ELIMIT of the buffer. */
int ek_evidence_report_write(const struct ek_detector *d, const struct ek_fleet_head *head,
                             int cells, struct ek_buf *out);

/* Hears of the content of a record, in its order. A function that returns other than 0 ends it. */
struct ek_evidence_report_visitor {
    void *context;
    /* what `sums` tells next is of this cell */
    int (*cell)(void *context, const struct ek_fleet_cell *cell);
    int (*sums)(void *context, int feature, const struct ek_evidence_sum_values *sums);
    /* cell and texts of the finding are not filled in; NULL: findings are not told */
    int (*finding)(void *context, const struct ek_fleet_cell *cell, const struct ek_finding *f);
    /* the lists of all traffic, then those of cells; NULL: they are not told */
    int (*traffic)(void *context, const struct ek_fleet_cell *cell, uint64_t lists);
};

/* A record that was opened; good as long as its bytes. */
struct ek_evidence_report {
    struct ek_fleet_head head;
    const struct ek_manifest *manifest;
    struct ek_serialize content; /* behind the head */
};

/* Checks all of it. EK_EFORMAT, EK_ESTATE for another manifest. */
int ek_evidence_report_open(struct ek_evidence_report *t, const void *bytes, size_t length,
                            const struct ek_manifest *m, struct ek_error *e);
/* Tells of its content; 0, or what a function returned. */
int ek_evidence_report_visit(const struct ek_evidence_report *t,
                             const struct ek_evidence_report_visitor *callbacks);

#endif
