/* Draft of a mapping from sample messages of an unknown layout.
 *
 * The draft counts the types of values at each path, and names the fields by their types, names and
 * values: a proposal for review. One thread at a time.
 */
#ifndef EK_LISTS_CODEC_DRAFT_H
#define EK_LISTS_CODEC_DRAFT_H

#include "lists/codec.h"

struct ek_draft;

/* Create a draft. Return 0 or EK_ENOMEM. */
int ek_draft_new(struct ek_draft **out, struct ek_error *e);
void ek_draft_free(struct ek_draft *d);
/* Add a MessagePack or JSON message, which is not kept. Return 0, EK_ENOMEM, or EK_EFORMAT if it is
 * neither; part of it may be counted then. */
int ek_draft_add(struct ek_draft *d, const void *bytes, size_t length, struct ek_error *e);
/* Set *out to the mapping of the messages so far; NULL members: the default name. The draft owns
 * its strings until the next call or its end. Return 0 or EK_ENOMEM. */
int ek_draft_mapping(struct ek_draft *d, struct ek_mapping *out, struct ek_error *e);
/* Append a mapping as the section `message` of a configuration, each line after `prefix`. Return 0
 * or EK_ENOMEM. */
int ek_draft_print(const struct ek_mapping *m, const char *prefix, struct ek_buf *out,
                   struct ek_error *e);

#endif
