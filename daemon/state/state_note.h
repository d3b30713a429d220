/* The note in the head of a state: how far the guard had come in each partition. For a restore that
 * has to do with an earlier base than the one that the committed offsets name, and for people.
 *
 * A line per partition, `scored/0 480`: the offset behind the last list that is in the state. What
 * does not fit into a note is left out; its partitions then go on at their committed offset.
 */
#ifndef EK_DAEMON_STATE_NOTE_H
#define EK_DAEMON_STATE_NOTE_H

#include "base/buf.h"

/* EK_ENOMEM, EK_ELIMIT: the buffer is as it was. */
int ek_state_note_add(struct ek_buf *note, const char *topic, int partition, int64_t seen);
/* -1: the note says nothing of that partition. */
int64_t ek_state_note_seen(const void *note, size_t length, const char *topic, int partition);

#endif
