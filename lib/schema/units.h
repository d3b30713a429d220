/* Unit conversions for rules and findings (docs/format/units.md).
 *
 * The default catalog is compiled from rules/units.yaml; custom units follow it. `factor`
 * multiplies the values: positive, finite, never 1. Ids are unique. `own` may be NULL for no custom
 * units.
 */
#ifndef EK_SCHEMA_UNITS_H
#define EK_SCHEMA_UNITS_H

#include "base/error_list.h"
#include "yaml/yaml.h"

#include <stddef.h>

enum {
    EK_CUSTOM_UNITS_MAX = 1000, /* conversions, including inverses */
    EK_UNIT_ID_BYTES_MAX = 60,
    EK_UNIT_TEXT_BYTES_MAX = 160,
    EK_UNIT_NAME_BYTES_MAX = 31
};

struct ek_unit {
    const char *id;
    double factor;
    const char *quantity; /* NULL: any feature */
    const char *from;     /* unit names of the values before, lower case, each between spaces: " min
                           * minutes "; NULL: any */
    const char *text;     /* description of the values after, follows "looks like" */
    const char *inverse;  /* id of the inverse; NULL: none */
};

struct ek_units { /* custom units */
    struct ek_unit *unit;
    size_t count, capacity;
    bool incomplete; /* some entries were invalid: an unknown id may be one of them */
};

/* Return the default units, a static array, and set *count. */
const struct ek_unit *ek_units_built_in(size_t *count);

/* Initialize an empty catalog of custom units, without allocating. */
void ek_units_init(struct ek_units *own);
/* Free the custom units and empty the catalog. */
void ek_units_release(struct ek_units *own);
/* Return unit i, default ones first; NULL after the last. Valid until a unit is added. */
const struct ek_unit *ek_units_at(const struct ek_units *own, size_t i);
/* Return the unit with this id, or NULL. Valid until a unit is added. */
const struct ek_unit *ek_units_find(const struct ek_units *own, const char *id);
/* Set *near to the id nearest to a misspelled one, valid until a unit is added, or NULL if none is
 * close. Return 0 or EK_ENOMEM. */
int ek_units_nearest(const struct ek_units *own, const char *id, const char **near);

/* Quantity of a feature, from its `unit` in the manifest. */
struct ek_measure {
    const char *quantity;                  /* NULL: unknown */
    char word[EK_UNIT_NAME_BYTES_MAX + 1]; /* the matching unit name, lower case */
};
/* Return the quantity of the first word of `text` that is a unit name; the whole text is tried
 * first. Without such a word, or for NULL, the quantity is NULL. Its string is valid until a unit
 * is added. */
struct ek_measure ek_units_measure(const struct ek_units *own, const char *text);

enum ek_unit_fit {
    EK_UNIT_SAME,     /* values in this unit */
    EK_UNIT_QUANTITY, /* same quantity */
    EK_UNIT_ANY,      /* unit of any feature, or feature of unknown quantity */
    EK_UNIT_OTHER     /* another quantity */
};
/* Return how well a conversion fits a feature with this unit; the first value fits best. */
enum ek_unit_fit ek_unit_fit(const struct ek_unit *u, const struct ek_measure *m);

/* Read one entry of a list of units and append it with its inverse. One equal to a known unit adds
 * none. An invalid entry adds none and sets own->incomplete. Return 0, also for an invalid entry if
 * its errors are added to `faults`; EK_ECONFIG if `faults` is NULL or full; or EK_ENOMEM. */
int ek_units_read_entry(struct ek_units *own, const struct ek_yaml *y, const struct ek_node *n,
                        struct ek_error_list *faults, struct ek_error *e);
/* Return EK_ECONFIG if entry i of `list` has an id of an earlier entry, else 0. */
int ek_units_check_duplicate(const struct ek_yaml *y, const struct ek_node *list, size_t i,
                             struct ek_error *e);
/* Append the units of a catalog in memory. With `faults` (initialized), continue after invalid
 * entries, append the valid ones and add all errors by position; *e is the first. With NULL, end at
 * the first error. Return 0, EK_ECONFIG or EK_ENOMEM; on errors the valid entries read so far stay
 * in `own`, and `incomplete` is set if an entry was invalid. */
int ek_units_parse(struct ek_units *own, const char *name, const char *text, size_t length,
                   struct ek_error_list *faults, struct ek_error *e);
/* Append the units of a file, as ek_units_parse does for a text, with the same effect on `own` and
 * `faults`. Return 0, EK_ECONFIG, EK_ENOMEM, or EK_EIO if the file cannot be read. */
int ek_units_load(struct ek_units *own, const char *path, struct ek_error_list *faults,
                  struct ek_error *e);

#endif
