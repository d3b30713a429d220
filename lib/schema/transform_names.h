/* What may be done to the values of a feature before a trainer sees them, and how that is spelled.
 *
 * The numbers are part of no file format: files carry the words. What each does is in
 * offline/scale/scaling.h and docs/normalize.md. Threads: no state.
 */
#ifndef EK_SCHEMA_TRANSFORM_NAMES_H
#define EK_SCHEMA_TRANSFORM_NAMES_H

enum ek_transform_kind {
    EK_SCALE_NONE, /* left as it is, or nothing was said */
    EK_SCALE_MINMAX,
    EK_SCALE_LOG,
    EK_SCALE_LOG_REVERSED,
    EK_SCALE_ARCTAN,
    EK_SCALE_ZSCORE,
    EK_SCALE_CDF,
    EK_SCALE_LOG1P,
    EK_SCALE_MERGE, /* min-max, log and arctan side by side */
    EK_SCALE_COUNT
};

/* [EK_SCALE_COUNT], in the order of the numbers. */
const char *const *ek_transform_kind_names(void);
const char *ek_transform_kind_name(enum ek_transform_kind s);

#endif
