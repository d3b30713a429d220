/* Draft of a manifest from sample messages: features, their names and value ranges.
 *
 * Messages are lists, single items or columns, with the field names of a mapping. Unnamed features
 * become item_1, query_1, ... Features are in the order of their first occurrence, item features
 * first. NaN is missing; zeros, infinities and booleans are numbers. Named features with values of
 * other types are left out. One thread at a time.
 */
#ifndef EK_LISTS_CODEC_SHAPE_H
#define EK_LISTS_CODEC_SHAPE_H

#include "base/buf.h"
#include "base/error.h"

struct ek_shape;
struct ek_mapping;

/* Create a draft. The mapping (codec.h) must outlive it; NULL for the default names. Its encoding
 * and the paths of items, item, features and query features are used; of its layout only whether
 * it has columns. Return 0 or EK_ENOMEM. */
int ek_shape_new(struct ek_shape **out, const struct ek_mapping *mapping, struct ek_error *e);
void ek_shape_free(struct ek_shape *s);
/* Add a MessagePack or JSON message, which is not kept. Return 0, EK_ENOMEM, EK_EFORMAT if invalid
 * or in another encoding than mapped (with EK_ERR_ENCODING), or EK_ELIMIT for more features than a
 * manifest allows. On error part of the message may be counted. */
int ek_shape_add(struct ek_shape *s, const void *bytes, size_t length, struct ek_error *e);
/* Append a manifest for review. Features are `routable` unless their values look like flags or
 * codes; comments give the reason. Return 0, EK_ENOMEM, or EK_EFORMAT if no message had a feature
 * with a number, with EK_ERR_FIELD and the existing field names. */
int ek_shape_manifest(const struct ek_shape *s, struct ek_buf *out, struct ek_error *e);

#endif
