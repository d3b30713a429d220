/* Row record: list statistics of one feature that the leader requested for a diagnosis
 * (docs/dev/formats/fleet.md).
 *
 * A row has the statistics of one list that the detector retains: level relative to the stratum and
 * to the tracked level at the first answer, spread, shares, number of values; time, named cells and
 * query features. Instances number their rows, so duplicates are recognized.
 */
#ifndef EK_FLEET_ROW_SAMPLES_H
#define EK_FLEET_ROW_SAMPLES_H

#include "detect/evidence_export.h"
#include "fleet/evidence_report.h"

enum { EK_FLEET_ROWS_MAX = 4096 }; /* per record and per request */

/* Decoded row; strings and query features are valid until the next row. */
struct ek_fleet_row {
    uint64_t number;
    int64_t time_ms;
    int stratum;
    struct ek_list_stats record;
    int cells; /* in addition to all traffic */
    struct ek_fleet_cell cell[EK_DIMENSIONS_MAX];
    const float *query;
};

/* Row request and its progress. */
struct ek_fleet_row_reply {
    int feature;
    uint32_t number; /* of the request */
    uint64_t next;   /* first row that was not written yet */
    float level;     /* tracked level at the first answer, subtracted from rows */
    int rows;        /* maximum per record, the last rows */
    bool begun;      /* at least one answer was written */
};

/* Return whether an answer is due: new rows exist, or no answer was written yet. */
bool ek_fleet_rows_due(const struct ek_detector *d, const struct ek_fleet_row_reply *answer);
/* Append a record of the rows since the last answer, and advance *answer. The caller sets `head`
 * except its dimensions. Return 0, EK_ENOMEM, or EK_ELIMIT if `out` is full; on error `out` is
 * unchanged. */
int ek_fleet_rows_write(const struct ek_detector *d, const struct ek_fleet_head *head,
                        struct ek_fleet_row_reply *answer, struct ek_buf *out);

struct ek_fleet_rows_visitor {
    void *context;
    int (*row)(void *context, const struct ek_fleet_row *row);
};

/* Open record; a view into its bytes. */
struct ek_fleet_rows {
    struct ek_fleet_head head;
    int feature;
    uint32_t request;
    const struct ek_manifest *manifest;
    int strata;
    struct ek_serialize content; /* rest of the record */
};

/* Open and check a whole record, which must outlive *r. `strata`: number of strata of the profile.
 * Return 0, EK_EFORMAT, or EK_ESTATE for another manifest; on error *r is undefined. */
int ek_fleet_rows_open(struct ek_fleet_rows *r, const void *bytes, size_t length,
                       const struct ek_manifest *m, int strata, struct ek_error *e);
/* Pass the rows of an open record to the callback, in order. Return 0, EK_ENOMEM, or the first
 * nonzero result of the callback, which ends the visit. */
int ek_fleet_rows_visit(const struct ek_fleet_rows *r,
                        const struct ek_fleet_rows_visitor *callbacks);

#endif
