/* The whole state of a detector as bytes (docs/format/snapshot.md).
 *
 * A detector restored from them goes on as if the saved one had never stopped: the same findings,
 * the same numbers, bit by bit, and the same bytes when it is saved again. What a detector makes
 * from manifest, profile and rules is not in them. Bytes of another manifest, profile, of other
 * segment dimensions, another limit of cells or another version are refused, and so are damaged
 * ones.
 */
#ifndef EK_DECIDE_SNAPSHOT_H
#define EK_DECIDE_SNAPSHOT_H

#include "base/buf.h"
#include "detect/detector.h"

/* Between two lists. Adds to `out`. EK_ENOMEM, EK_ELIMIT: `out` is as before. */
int ek_detector_save(const struct ek_detector *d, struct ek_buf *out, struct ek_error *e);
/* A new detector, as of ek_detector_new_with, with the state that was saved. EK_EFORMAT: damaged;
 * EK_ESTATE: made with something else; EK_ENOMEM. Rules may have changed in all but their segment
 * dimensions. */
int ek_detector_restore(struct ek_detector **out, const struct ek_manifest *m,
                        const struct ek_profile *p, const struct ek_rules *rules, int cells,
                        const void *bytes, size_t length, struct ek_error *e);

#endif
