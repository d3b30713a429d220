/* Texts that locate a checkpoint: the reference, the owner and the fingerprint in the metadata of
 * committed offsets, and the note of offsets in the checkpoint header. Threads: any. */
#ifndef EK_DAEMON_STATE_CHECKPOINT_REF_H
#define EK_DAEMON_STATE_CHECKPOINT_REF_H

#include "base/buf.h"
#include "daemon/config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Note in the checkpoint header: offsets counted by the guard, per partition. Used to restore an
 * earlier checkpoint than the referenced one, and for diagnosis.
 *
 * One line per partition, `scored/0 480`: the offset after the last counted list. Partitions that
 * do not fit resume at their committed offset.
 */
/* Append the line of a partition, whose lists below offset `seen` the checkpoint contains. Return
 * 0, or EK_ENOMEM or EK_ELIMIT with the buffer unchanged. */
int ek_checkpoint_note_add(struct ek_buf *note, const char *topic, int partition, int64_t seen);
/* Return the offset of a partition, or -1 if the note does not contain it. */
int64_t ek_checkpoint_note_get_offset(const void *note, size_t length, const char *topic,
                                      int partition);

/* Checkpoint reference: metadata of a committed offset.
 *
 *     ek1;home=scored/0;base=12;head=0123456789abcdef;since=1700000000000;seen=480
 *
 * home: the shard, named by the input partition that owns the checkpoint. base, head: number of the
 * checkpoint and hash of its header record, which identifies it. since: time of the oldest record
 * required. seen: offset of this partition after the last counted list. `;at=1` behind it:
 * partition of the state topic, if it is not the number of the home. A checkpoint belongs to a
 * partition if the partition's own reference names it as home; other references to the shard are
 * valid only for their `seen`.
 */
enum { EK_TOPIC_BYTES = 250, EK_CHECKPOINT_REF_BYTES = 512 };

struct ek_checkpoint_ref {
    char topic[EK_TOPIC_BYTES]; /* of the home partition */
    int partition;
    int at; /* partition of the state topic */
    uint64_t base, head;
    int64_t since_ms, seen;
};

enum ek_checkpoint_ref_kind {
    EK_CHECKPOINT_REF_NONE, /* empty or not a checkpoint reference */
    EK_CHECKPOINT_REF_READ,
    EK_CHECKPOINT_REF_NEWER, /* of a later version */
};

/* Format a reference as a nul-terminated string. */
void ek_checkpoint_ref_write(const struct ek_checkpoint_ref *p, char text[EK_CHECKPOINT_REF_BYTES]);
/* Parse a reference; `text` may be NULL with length 0. Return its kind; *out stays unchanged unless
 * EK_CHECKPOINT_REF_READ is returned. */
enum ek_checkpoint_ref_kind ek_checkpoint_ref_read(const char *text, size_t length,
                                                   struct ek_checkpoint_ref *out);
/* End of the metadata of a committed offset: with exactly-once delivery the name of the instance
 * that committed it, and the fingerprint of the message before it. It is
 * `;owner=NAME;print=0123456789abcdef` behind a reference, or `ek1p;owner=...` without one. */
enum { EK_PRINT_TEXT_BYTES = 28 + sizeof ";owner=" + EK_INSTANCE_BYTES };
/* Write owner and fingerprint as text: behind a reference if `reference`, else as metadata of its
 * own. A fingerprint of 0 is omitted, and an owner that is NULL or has a ';'. */
void ek_print_write(uint64_t print, const char *owner, bool reference,
                    char text[EK_PRINT_TEXT_BYTES]);
/* Return the fingerprint at the end of the metadata of an offset, or 0 if there is none. */
uint64_t ek_print_read(const char *text, size_t length);
/* Copy the owner in the metadata of an offset, or "" if there is none. */
void ek_owner_read(const char *text, size_t length, char name[EK_INSTANCE_BYTES]);

/* Return true if the home of the reference is this partition. */
bool ek_checkpoint_ref_partition(const struct ek_checkpoint_ref *p, const char *topic,
                                 int partition);

#endif
