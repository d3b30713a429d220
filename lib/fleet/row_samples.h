/* The rows record: lists of one feature that the decider asked an instance for, so that it can tell
 * what the fleet has found (docs/format/fleet.md).
 *
 * A row is what the detector keeps of a list: level against the stratum and less the level that the
 * instance tracked when it was asked first, spread, shares, how many values; its time, its cells by
 * name, its query features. Rows are numbered by the instance, so one that comes twice is known.
 */
#ifndef EK_FLEET_ROW_SAMPLES_H
#define EK_FLEET_ROW_SAMPLES_H

#include "detect/evidence_export.h"
#include "fleet/evidence_report.h"

enum { EK_FLEET_ROWS_MAX = 4096 }; /* in a record, and of one that asks */

/* One row that was read; texts and query features live until the next. */
struct ek_fleet_row {
    uint64_t number;
    int64_t time_ms;
    int stratum;
    struct ek_list_stats record;
    int cells; /* beside all traffic */
    struct ek_fleet_cell cell[EK_DIMENSIONS_MAX];
    const float *query;
};

/* What an instance was asked for, and how far it has answered. */
struct ek_fleet_row_reply {
    int feature;
    uint32_t number; /* of the ask */
    uint64_t next;   /* row from which on nothing was told yet */
    float level;     /* tracked at the first answer; taken off */
    int rows;        /* told in a record at most, the newest */
    bool begun;      /* there was one */
};

/* Whether there is something to say since the last answer: at first there is, if only that there
 * are no rows. */
bool ek_fleet_rows_due(const struct ek_detector *d, const struct ek_fleet_row_reply *answer);
/* Adds the record of the rows since the last answer. `head` as for ek_evidence_report_write. */
int ek_fleet_rows_write(const struct ek_detector *d, const struct ek_fleet_head *head,
                        struct ek_fleet_row_reply *answer, struct ek_buf *out);

struct ek_fleet_rows_visitor {
    void *context;
    int (*row)(void *context, const struct ek_fleet_row *row);
};

/* A record that was opened; good as long as its bytes. */
struct ek_fleet_rows {
    struct ek_fleet_head head;
    int feature;
    uint32_t ask;
    const struct ek_manifest *manifest;
    int strata;
    struct ek_serialize content; /* behind all of that */
};

/* As ek_evidence_report_open; strata: of the profile. */
int ek_fleet_rows_open(struct ek_fleet_rows *r, const void *bytes, size_t length,
                       const struct ek_manifest *m, int strata, struct ek_error *e);
/* As ek_evidence_report_visit; EK_ENOMEM. */
int ek_fleet_rows_visit(const struct ek_fleet_rows *r,
                        const struct ek_fleet_rows_visitor *callbacks);

#endif
