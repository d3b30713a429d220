/* What messages hold, seen before there is a manifest: the features, their names, and what their
 * numbers look like. Makes the first manifest of somebody's own topic.
 *
 * Messages are lists, or items one by one, with the names that a mapping gives their fields. A
 * feature without a name in the messages is called item_1, query_1, ...; the order is that in which
 * they are met, items' before the lists'. NaN is missing; zero and infinite numbers are numbers.
 * What has a name in the messages and is text, a boolean or the like at times is left out.
 * Owner: the caller, ek_shape_free. One thread at a time.
 */
#ifndef EK_LISTS_CODEC_SHAPE_H
#define EK_LISTS_CODEC_SHAPE_H

#include "base/buf.h"
#include "base/error.h"

struct ek_shape;
struct ek_mapping;

/* The mapping (codec.h) must outlive the shape; NULL for the usual names. Of its paths those
 * of items, item, features and query features count, and its encoding; its layout does not. */
int ek_shape_new(struct ek_shape **out, const struct ek_mapping *mapping, struct ek_error *e);
void ek_shape_free(struct ek_shape *s);
/* A message, as MessagePack or JSON. EK_EFORMAT when it is neither, or not that of the mapping
 * (with EK_ERR_ENCODING), EK_ELIMIT with more features
 * than a manifest may have: part of it may then be counted. */
int ek_shape_add(struct ek_shape *s, const void *bytes, size_t length, struct ek_error *e);
/* Appends a manifest for people to go over: `routable` is what is no flag and no code by its
 * values, and a comment says why another is not. EK_EFORMAT when no message had a feature;
 * it names the fields
 * there are, with EK_ERR_FIELD. */
int ek_shape_manifest(const struct ek_shape *s, struct ek_buf *out, struct ek_error *e);

#endif
