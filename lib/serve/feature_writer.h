/* Repair of the feature values of one list: in place in its message, or as an array for trees.
 *
 * A list is repaired only if it shows the fault: its level (mean ln|x|) is compared with the level
 * of its stratum in training. So healthy lists under a plan stay unchanged. A watched query feature
 * is a list of one value, repaired first: levels of items follow the repaired one. Buffers are
 * reused; one thread at a time.
 */
#ifndef EK_SERVE_FEATURE_WRITER_H
#define EK_SERVE_FEATURE_WRITER_H

#include "base/buf.h"
#include "lists/list.h"
#include "plan/plan.h"

struct ek_assets;
struct ek_wide_columns;
struct ek_feature_writer;

/* Create a writer for the watched features of a manifest, which must outlive it. Return 0, or
 * EK_ENOMEM. */
int ek_feature_writer_new(struct ek_feature_writer **out, const struct ek_manifest *m);
void ek_feature_writer_free(struct ek_feature_writer *w);

/* A decoded list with its treatment. */
struct ek_feature_list {
    const struct ek_assets *assets;
    const struct ek_list *query; /* decoded from `message` */
    int stratum;
    const struct ek_treatment *treatment; /* [features] EK_ACT_NONE: the feature stays; NULL: all */
    const struct ek_plan_repair *repair;  /* [features] */
    const void *message;
    size_t length;
    const struct ek_wide_columns *wide; /* columns to append, of the repaired values; NULL: none */
};

/* Write the message with repaired values, and the wide columns, to `out`, which is cleared first
 * and stays empty if no value changed and no column was appended. Return 0, EK_ESTATE if the
 * message is not that of the list, EK_ENOMEM, or EK_ELIMIT beyond the limit of `out`. */
int ek_feature_writer_write(struct ek_feature_writer *w, const struct ek_feature_list *list,
                            struct ek_buf *out, struct ek_error *e);
/* Set values [n, F], the values of trees, to all item features after the repair, in the precision
 * of the message; ek_feature_writer_query then returns the query features. They are undefined if
 * ek_feature_writer_changed returns 0 afterwards: no value was repaired. Unlike a message, they
 * have filled values of absent map entries. message NULL: float32 values of the list, without a
 * note. `scratch` is cleared. Return 0, EK_ESTATE if the message is not that of the list, EK_ENOMEM
 * or EK_ELIMIT. */
int ek_feature_writer_values(struct ek_feature_writer *w, const struct ek_feature_list *list,
                             double *values, struct ek_buf *scratch, struct ek_error *e);
/* Return the query features [M] after the repair of the last ek_feature_writer_values that changed
 * values; the writer owns them. */
float *ek_feature_writer_query(const struct ek_feature_writer *w);
/* Return the number of values that the last write changed. */
size_t ek_feature_writer_changed(const struct ek_feature_writer *w);
/* Return the repairs of the last write that changed values, as "price=/100, rating=*2"
 * (docs/repair.md). Valid until the next write. */
const char *ek_feature_writer_note(const struct ek_feature_writer *w);

#endif
