/* What holds a snapshot together: magic, head, sections, checksum. */
#ifndef EK_DECIDE_SNAPSHOT_FRAME_H
#define EK_DECIDE_SNAPSHOT_FRAME_H

#include "base/snap.h"
#include "detect/detector_parts.h"

/* What it was made with. */
struct ek_snapshot_head {
    uint64_t bytes; /* of the whole snapshot */
    uint64_t manifest;
    struct ek_detector_kind kind;
};

/* Whether bytes begin as a snapshot does; 8 are enough to tell. */
bool ek_snapshot_begins(const void *bytes, size_t length);
/* EK_EFORMAT, EK_ESTATE for another version. What comes behind magic and version, without the
 * checksum, is in *s then. */
int ek_snapshot_open(const void *bytes, size_t length, struct ek_snap *s, struct ek_error *e);
/* Magic, version and head; ek_snapshot_seal fills in the length and adds the checksum. */
void ek_snapshot_begin(struct ek_snapshot_head *h, struct ek_snap *s);
void ek_snapshot_seal(struct ek_snap *s, size_t start);
void ek_snapshot_head_snap(struct ek_snapshot_head *h, struct ek_snap *s);
/* Writing: what comes behind is a section, from the returned place on; then its end is there. */
size_t ek_snapshot_section(struct ek_snap *s, const char *tag);
void ek_snapshot_section_end(struct ek_snap *s, size_t start);
/* Reading: the section that is next; `all` goes behind it. One that has another tag or is cut is
 * empty, and `rc` is set. */
struct ek_snap ek_snapshot_take(struct ek_snap *all, const char *tag);
/* Describes the failure rc of a part. */
int ek_snapshot_damaged(int rc, const char *part, struct ek_error *e);

#endif
