/* Messages of a topic in an unnamed temporary file, which the system deletes with the process. One
 * thread. */
#ifndef EK_DAEMON_COMMANDS_MESSAGE_STORE_H
#define EK_DAEMON_COMMANDS_MESSAGE_STORE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

struct ek_message_store;

/* Create an empty store in a folder. Return 0, EK_EIO or EK_ENOMEM. */
int ek_message_store_new(struct ek_message_store **out, const char *folder, struct ek_error *e);
void ek_message_store_free(struct ek_message_store *s);
/* Append a copy of a message and its time in milliseconds since 1970, of its producer or broker.
 * Return 0 or EK_EIO. */
int ek_message_store_add(struct ek_message_store *s, const void *bytes, size_t length,
                         int64_t time_ms, struct ek_error *e);
/* Return the size of the store, a position after its last message. */
long ek_message_store_bytes(const struct ek_message_store *s);
/* Remove the messages after a position. */
void ek_message_store_truncate(struct ek_message_store *s, long bytes);
/* Keep the first `count` messages after `position` and remove the rest. Return 0 or EK_EIO. */
int ek_message_store_remove_after(struct ek_message_store *s, long position, uint64_t count,
                                  struct ek_error *e);

enum { EK_MESSAGE_STORE_STOP = -1 }; /* result that ends an iteration */
/* Process a stored message, which is valid during the call. time_ms: as for ek_message_store_add.
 */
typedef int ek_stored_fn(void *context, const struct ek_buf *message, int64_t time_ms,
                         struct ek_error *e);
/* Call `process` for each message, oldest first, until it returns another value than 0. Return that
 * value, also EK_MESSAGE_STORE_STOP; else 0, EK_EIO or EK_ENOMEM. */
int ek_message_store_each(struct ek_message_store *s, ek_stored_fn *process, void *context,
                          struct ek_error *e);

#endif
