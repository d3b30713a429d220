/* Plan of a guard as JSON for programs that apply it themselves (docs/dev/formats/plan.md): entries
 * with all values that a repair needs, those of training included. */
#ifndef EK_GUARD_PLAN_JSON_H
#define EK_GUARD_PLAN_JSON_H

#include "base/buf.h"
#include "evenkeel.h"

#include <stddef.h>
#include <stdint.h>

/* One entry within the text. */
struct ek_plan_part {
    size_t key;        /* offset in `keys` */
    size_t at, length; /* JSON object in `text` */
    uint64_t hash;     /* of the object */
};

struct ek_plan_document {
    uint64_t version;
    uint64_t hash;       /* of all entries and the pause */
    struct ek_buf text;  /* JSON object */
    struct ek_buf keys;  /* "price/arm=B", each terminated */
    struct ek_buf parts; /* struct ek_plan_part, one per entry */
};

/* Initialize an empty document, without allocating. */
void ek_plan_document_init(struct ek_plan_document *d);
void ek_plan_document_release(struct ek_plan_document *d);
/* Return the number of entries. */
size_t ek_plan_document_count(const struct ek_plan_document *d);
/* Return entry i, valid until the next change. */
const struct ek_plan_part *ek_plan_document_part(const struct ek_plan_document *d, size_t i);
/* Replace the content of `to` by a copy. Return 0, or EK_ENOMEM with an undefined content. */
int ek_plan_document_copy(struct ek_plan_document *to, const struct ek_plan_document *from);
/* Replace the document by the current plan of a guard. Return 0, or EK_ENOMEM or EK_ELIMIT with an
 * undefined content. */
int ek_guard_write_plan(const struct ek_guard *g, struct ek_plan_document *d);

#endif
