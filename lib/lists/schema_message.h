/* Conversion of messages with a schema to msgpack, for the codec.
 *
 * They use the msgpack decoder, so all encodings follow the same rules; positions map back
 * to the message. Only the fields of the schema's mapping are converted, but all bytes are checked.
 * Records become maps, enums text, fixed `bin`, and arrays of numbers that are features become
 * `bin` of float32 with NaN for null. Memory is reused and only grows. One thread at a time.
 */
#ifndef EK_LISTS_SCHEMA_MESSAGE_H
#define EK_LISTS_SCHEMA_MESSAGE_H

#include "lists/message_schema.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_schema_message;
struct ek_schema_set;
struct ek_place;

/* Reason that bytes are no message of a schema. */
struct ek_schema_fault {
    const char *what; /* NULL: the bytes end too early */
    size_t at;        /* byte offset */
};

/* Convert the message at `bytes` + `from`, which ends at `length` and nests at most `depth` levels.
 * *m is created if NULL and can be reused after an error. The schema must outlive its use. Return
 * 0, EK_ENOMEM, or EK_EFORMAT or EK_ELIMIT (depth, size) with *fault set. */
int ek_avro_read(struct ek_schema_message **m, const struct ek_message_schema *s, const void *bytes,
                 size_t length, size_t from, int depth, struct ek_schema_fault *fault);
/* Likewise for a Protobuf message. */
int ek_proto_read(struct ek_schema_message **m, const struct ek_message_schema *s,
                  const void *bytes, size_t length, size_t from, int depth,
                  struct ek_schema_fault *fault);
/* Find the schema of a message and convert it; the frame of a schema registry is skipped. source
 * NULL: fail. Return as ek_avro_read; EK_EFORMAT also for an unknown schema. */
int ek_schema_open(struct ek_schema_message **m, const struct ek_schema_set *source,
                   const void *bytes, size_t length, int depth, struct ek_error *e);
void ek_schema_message_free(struct ek_schema_message *m);

/* Return whether the schema of the message is one of Protobuf. */
bool ek_schema_is_proto(const struct ek_schema_message *m);
/* Return the message as msgpack, and set *length. Valid until the next conversion; `m` owns it. */
const uint8_t *ek_schema_wire(const struct ek_schema_message *m, size_t *length);
/* Set *place to the position in the message of the float or double at `offset` of the msgpack.
 * Return false for other values: integers and nulls have no fixed width. */
bool ek_schema_place(struct ek_schema_message *m, size_t offset, struct ek_place *place);

/* Write a number in the width of the float (4) or double (8) that it replaces. Return the width. */
size_t ek_schema_store(uint8_t *to, size_t width, double value);

/* Iteration over an array of features in the message, in which values can be replaced. */
struct ek_schema_row {
    const struct ek_message_schema *schema;
    const uint8_t *start, *p, *end;
    const uint8_t *bin; /* the next float32 of the msgpack, if values have no width; else NULL */
    uint32_t element;   /* type; EK_TYPE_FLOAT for `bytes` */
    uint64_t left;      /* values of the current block */
    bool is_run;        /* values follow each other without blocks */
};
struct ek_schema_value {
    size_t at;     /* offset in the message */
    size_t length; /* 4: float, 8: double, 0: it cannot be replaced */
    bool is_null;
    double number;
};
/* Start at the features whose `bin` is at `offset` of the msgpack, with `values` floats at `bin`.
 * `bytes` is the converted message. Return false if there are none. */
bool ek_schema_row_start(struct ek_schema_message *m, size_t offset, const void *bytes,
                         size_t length, const uint8_t *bin, size_t values,
                         struct ek_schema_row *row);
/* Read the next value. Return false at the end, or if `bytes` are another message. */
bool ek_schema_row_next(struct ek_schema_row *row, struct ek_schema_value *v);

#endif
