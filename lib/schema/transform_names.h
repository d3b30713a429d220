/* Feature transforms applied before training, and their names. Numbers are part of no file format;
 * files contain the names. Formulas: offline/scale/scaling.h and docs/normalize.md. */
#ifndef EK_SCHEMA_TRANSFORM_NAMES_H
#define EK_SCHEMA_TRANSFORM_NAMES_H

enum ek_transform_kind {
    EK_SCALE_NONE, /* unchanged, or not set */
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

/* Return the names [EK_SCALE_COUNT] in enum order, a static array. */
const char *const *ek_transform_kind_names(void);
/* Return the name of a transform, a static string. */
const char *ek_transform_kind_name(enum ek_transform_kind s);

#endif
