/* One line of LETOR text, taken apart. Internal to lib/data. */
#ifndef EK_DATA_LETOR_LINE_H
#define EK_DATA_LETOR_LINE_H

#include "schema/manifest.h"
#include "lists/query.h"

/* Where the value of an index goes: item number, or -1 - query number; EK_SLOT_UNKNOWN, or nowhere,
 * EK_SLOT_UNUSED. */
enum { EK_SLOT_UNKNOWN = INT32_MIN, EK_SLOT_UNUSED };

struct ek_letor_line {
    const char *name; /* of the file, for errors */
    long number;
    const char *text; /* terminated */
    float label;
    struct ek_text id;
    const char *values; /* where they begin */
};

/* Slots of the indices 0 .. the highest of the manifest. NULL without memory. */
int *ek_letor_slots(const struct ek_manifest *m);
/* Label and query id of line->text. EK_EFORMAT. */
int ek_letor_head(struct ek_letor_line *line, struct ek_error *e);
/* The values into item [F] and query [M], which are zeroed first, and the comment's id. */
int ek_letor_values(const struct ek_letor_line *line, const struct ek_manifest *m, const int *slots,
                    float *item, float *query, struct ek_text *item_id, struct ek_error *e);
/* EK_EFORMAT at a place of the line. */
int ek_letor_fail(const struct ek_letor_line *line, const char *at, struct ek_error *e,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
