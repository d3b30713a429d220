/* Evidence report of one instance: the statistics of its lists since the last report
 * (docs/dev/formats/fleet.md); with the fields that other records of an instance share.
 *
 * Records name cells, because cell numbers differ by instance. They number features, because the
 * manifest hash is checked. An instance numbers its reports from 1, and `start` identifies its run,
 * so duplicate, late and reordered reports are recognized. Every report has all confirmed findings
 * of the instance, so the last report is sufficient.
 */
#ifndef EK_FLEET_EVIDENCE_REPORT_H
#define EK_FLEET_EVIDENCE_REPORT_H

#include "detect/cells.h"
#include "detect/evidence_export.h"
#include "detect/finding.h"
#include "fleet/fleet_codec.h"
#include "rules/rules.h"
#include "schema/manifest.h"

/* Read or write the fields of a confirmed finding. Reading does not set cell, strings, units and
 * categories; feature is -1 if the manifest lacks it. Errors are in w->rc. */
void ek_fleet_finding_walk(struct ek_serialize *w, const struct ek_manifest *m,
                           struct ek_finding *f);
/* Set the units of a finding that match its factor, because records do not have them. */
void ek_fleet_finding_match_units(struct ek_finding *f, const struct ek_rules *rules,
                                  const struct ek_manifest *m);

struct ek_detector;

enum {
    EK_FLEET_CELLS_MAX = 4096,       /* in a record */
    EK_FLEET_LISTS_MAX = 1 << 24,    /* per report */
    EK_FLEET_CELLS_DEFAULT_MAX = 32, /* reported by default; all traffic first */
};

/* Common fields at the start of records of an instance. Strings are views. */
struct ek_fleet_head {
    struct ek_text instance;
    uint64_t start;  /* of this run, larger for a later run, such as the time in ms */
    uint64_t number; /* from 1 */
    uint64_t manifest, profile;
    int64_t time_ms; /* latest event time of a list */
    struct ek_fleet_dimensions dimensions;
    uint64_t normal; /* of a report: version of accepted levels that its lists were compared with */
    uint64_t row;    /* of a written report: first row after the last report */
};

/* Set the dimensions to views of the registry's names. */
void ek_fleet_dimensions_get(struct ek_fleet_dimensions *out, const struct ek_cells *cells);
/* Return the names of a cell as views. */
struct ek_fleet_cell ek_fleet_cell_get(const struct ek_cells *cells, int cell);
/* Read or write the fields of the head. Errors are in w->rc; strings read are views into the
 * record. */
void ek_fleet_head_walk(struct ek_serialize *w, struct ek_fleet_head *h);
/* Open a record and read its head; *w is then behind it. `what` is the name of the record in
 * messages. Return 0, EK_EFORMAT, or EK_ESTATE for another manifest. A damaged head is an error of
 * ek_record_reader_is_done only. */
int ek_fleet_head_open(struct ek_serialize *w, const void *bytes, size_t length,
                       enum ek_fleet_kind kind, const struct ek_manifest *m,
                       struct ek_fleet_head *h, const char *what, struct ek_error *e);

/* Append the report of the detector's evidence sums, which stay unchanged, for at most `cells`
 * cells. The caller sets `head` except its dimensions. Return 0, EK_ENOMEM, or EK_ELIMIT if `out`
 * is full; on error `out` is unchanged. */
int ek_evidence_report_write(const struct ek_detector *d, const struct ek_fleet_head *head,
                             int cells, struct ek_buf *out);

/* Callbacks for the content of a record in its order. A nonzero result ends the visit. */
struct ek_evidence_report_visitor {
    void *context;
    /* cell of the following calls of `sums` */
    int (*cell)(void *context, const struct ek_fleet_cell *cell);
    int (*sums)(void *context, int feature, const struct ek_evidence_sum_values *sums);
    /* cell and strings of the finding are not set; optional */
    int (*finding)(void *context, const struct ek_fleet_cell *cell, const struct ek_finding *f);
    /* number of lists of all traffic, then of cells; optional */
    int (*traffic)(void *context, const struct ek_fleet_cell *cell, uint64_t lists);
};

/* Open record; a view into its bytes. */
struct ek_evidence_report {
    struct ek_fleet_head head;
    const struct ek_manifest *manifest;
    struct ek_serialize content; /* rest of the record */
};

/* Open and check a whole record, which must outlive *t. Return 0, EK_EFORMAT, or EK_ESTATE for
 * another manifest; on error *t is undefined. */
int ek_evidence_report_open(struct ek_evidence_report *t, const void *bytes, size_t length,
                            const struct ek_manifest *m, struct ek_error *e);
/* Pass the content of an open report to the callbacks. Return 0, or the first nonzero result of a
 * callback, which ends the visit. */
int ek_evidence_report_visit(const struct ek_evidence_report *t,
                             const struct ek_evidence_report_visitor *callbacks);

#endif
