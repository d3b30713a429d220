/* The note in the head of a state: how far the guard had come in each partition. For a restore that
 * has to do with an earlier base than the one that the committed offsets name, and for people.
 *
 * A line per partition, `scored/0 480`: the offset behind the last list that is in the state. What
 * does not fit into a note is left out; its partitions then go on at their committed offset.
 */
#ifndef EK_DAEMON_STATE_CHECKPOINT_REF_H
#define EK_DAEMON_STATE_CHECKPOINT_REF_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* EK_ENOMEM, EK_ELIMIT: the buffer is as it was. */
int ek_checkpoint_note_add(struct ek_buf *note, const char *topic, int partition, int64_t seen);
/* -1: the note says nothing of that partition. */
int64_t ek_checkpoint_note_get_offset(const void *note, size_t length, const char *topic,
                                      int partition);

/* Where the state is that belongs to a committed offset: a text that goes with the offset, as its
 * metadata.
 *
 *     ek1;home=scored/0;base=12;head=0123456789abcdef;since=1700000000000;seen=480
 *
 * home: the shard, the input partition whose owner keeps the state; base and head: number of the
 * base, and hash of the record that is its head, which no other base has, whoever wrote it. since:
 * time of the oldest record it needs. seen: offset of this partition behind the last list that
 * is in it. A state exists for a partition whose own pointer names it as home; what other
 * partitions say of that shard says only what of theirs it has seen. Value type.
 */
enum { EK_TOPIC_BYTES = 250, EK_CHECKPOINT_REF_BYTES = 512 };

struct ek_checkpoint_ref {
    char topic[EK_TOPIC_BYTES]; /* of the home */
    int partition;
    uint64_t base, head;
    int64_t since_ms, seen;
};

enum ek_checkpoint_ref_kind {
    EK_CHECKPOINT_REF_NONE, /* nothing, or nothing of ours */
    EK_CHECKPOINT_REF_READ,
    EK_CHECKPOINT_REF_NEWER, /* of a later version */
};

/* Terminated. */
void ek_checkpoint_ref_write(const struct ek_checkpoint_ref *p, char text[EK_CHECKPOINT_REF_BYTES]);
/* *out is untouched unless it was read. `text` may be NULL with length 0. */
enum ek_checkpoint_ref_kind ek_checkpoint_ref_read(const char *text, size_t length,
                                                   struct ek_checkpoint_ref *out);
/* Whether it says that there is a state of this partition. */
bool ek_checkpoint_ref_partition(const struct ek_checkpoint_ref *p, const char *topic,
                                 int partition);

#endif
