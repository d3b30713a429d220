/* Known conversions of units: what rules may list and findings may be called
 * (docs/format/units.md).
 *
 * The built-in ones come from rules/units.yaml when the program is built; own ones stand behind
 * them. Factors are what the values are multiplied by; positive, finite, never 1. Ids are unique.
 * Owner: the caller of ek_units_init, ek_units_release. What is NULL for own ones is no own ones.
 */
#ifndef EK_SCHEMA_UNITS_H
#define EK_SCHEMA_UNITS_H

#include "base/error_list.h"
#include "yaml/yaml.h"

#include <stddef.h>

enum {
    EK_CUSTOM_UNITS_MAX = 1000, /* conversions, both ways counted */
    EK_UNIT_ID_BYTES_MAX = 60,
    EK_UNIT_TEXT_BYTES_MAX = 160,
    EK_UNIT_NAME_BYTES_MAX = 31
};

struct ek_unit {
    const char *id;
    double factor;
    const char *quantity; /* what is measured; NULL: of any feature */
    const char *from;     /* words for the values before, lower case, each in spaces:
                           * " min minutes "; NULL: any */
    const char *text;     /* how the values look after it, for people, behind "looks like" */
    const char *inverse;  /* id of the way back; NULL */
};

struct ek_units { /* own ones */
    struct ek_unit *unit;
    size_t count, capacity;
    bool incomplete; /* some could not be read: an id that is not known may be one of them */
};

/* The built-in ones. */
const struct ek_unit *ek_units_built_in(size_t *count);

void ek_units_init(struct ek_units *own);
void ek_units_release(struct ek_units *own);
/* Number i of all, the built-in ones first; NULL behind the last. */
const struct ek_unit *ek_units_at(const struct ek_units *own, size_t i);
const struct ek_unit *ek_units_find(const struct ek_units *own, const char *id);
/* The id nearest to a mistyped one, NULL when none is near. EK_ENOMEM. */
int ek_units_nearest(const struct ek_units *own, const char *id, const char **near);
/* Puts a copy behind the others. EK_ENOMEM, EK_ELIMIT. */
int ek_units_add(struct ek_units *own, const struct ek_unit *u);

/* What the `unit` of a manifest says about a feature. */
struct ek_measure {
    const char *quantity;                  /* of a unit; NULL: not known */
    char word[EK_UNIT_NAME_BYTES_MAX + 1]; /* the one that told; lower case */
};
/* The first word of `text` (the whole of it before its parts) that some unit has. */
struct ek_measure ek_units_measure(const struct ek_units *own, const char *text);

enum ek_unit_fit {
    EK_UNIT_SAME,     /* values of that very unit */
    EK_UNIT_QUANTITY, /* the same quantity */
    EK_UNIT_ANY,      /* of any feature; or nothing is known about the feature */
    EK_UNIT_OTHER     /* of another quantity */
};
enum ek_unit_fit ek_unit_fit(const struct ek_unit *u, const struct ek_measure *m);

/* One entry of a list of units: both ways of it go behind the own ones. Nothing is added when it
 * has a fault, nor when it says what is built in already. */
int ek_units_read_entry(struct ek_units *own, const struct ek_yaml *y, const struct ek_node *n,
                        struct ek_error_list *faults, struct ek_error *e);
/* Entry i of `list` must not have an id that an entry before it has. */
int ek_units_check_duplicate(const struct ek_yaml *y, const struct ek_node *list, size_t i,
                             struct ek_error *e);
/* A catalogue, the same way. With `faults` (initialised, may be NULL) all of them are told, by
 * place; the first is the error. */
int ek_units_parse(struct ek_units *own, const char *name, const char *text, size_t length,
                   struct ek_error_list *faults, struct ek_error *e);
int ek_units_load(struct ek_units *own, const char *path, struct ek_error_list *faults,
                  struct ek_error *e);

#endif
