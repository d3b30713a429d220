/* Baseline of `evenkeel watch`: mapping, manifest, rules and profile of the messages of a topic.
 *
 * The first batch of messages gives mapping, manifest and first profile, unless its second half
 * differs by a large factor from the first one. Each later batch has as many lists as the baseline,
 * which it doubles if a detector with the current profile has no open finding. The lists of a fault
 * (a factor of 3 or more, or another class) are discarded, and the batch goes on after it. A
 * smaller change that ends within the batch is a fluctuation, which the profile must know; one that
 * lasts is discarded, too. A fault that returns at the same hours of another day is learned. A
 * baseline of fewer than 2,000 lists reports only factors of 3 or more.
 * Messages are kept in an unnamed temporary file of limited size. One thread.
 */
#ifndef EK_DAEMON_COMMANDS_LEARNED_BASELINE_H
#define EK_DAEMON_COMMANDS_LEARNED_BASELINE_H

#include "assets/profile.h"
#include "daemon/files/field_mapping.h"
#include "lists/codec.h"
#include "rules/rules.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    EK_LEARNED_LISTS_MAX = 60000,         /* enough for almost all detections */
    EK_LEARNED_BYTES_MAX = 256 << 20,     /* of kept messages */
    EK_LEARNED_FIT_BYTES_MAX = 128 << 20, /* of memory for the lists of a fit */
    EK_LEARNED_FIRST = 500,               /* messages of the first batch, by default */
    EK_LEARNED_FIRST_LEAST = 420,         /* each half needs more than EK_LISTS_FOR_LEVEL lists */
    EK_LEARNED_PATH_BYTES = 512,
    EK_LEARNED_TEXT_BYTES = 400
};

struct ek_learned_baseline;

/* Limits; usually EK_LEARNED_FIRST and the constants above. */
struct ek_learned_limits {
    uint64_t first; /* messages of the first batch, at least EK_LEARNED_FIRST_LEAST */
    uint64_t lists; /* most lists of the baseline */
    long bytes;     /* most bytes of kept messages; the last message may exceed them */
    uint64_t fit_bytes;
};

/* Effect of a message on the baseline. */
enum ek_learned_step {
    EK_LEARNED_MORE,     /* none yet */
    EK_LEARNED_MAPPED,   /* the mapping is known */
    EK_LEARNED_PROFILED, /* profile.ekp is new: first profile, or one of more lists */
    EK_LEARNED_REFUSED,  /* lists are discarded, ek_learned_reason */
    EK_LEARNED_RESUMED,  /* the change has ended, ek_learned_reason */
    EK_LEARNED_DAILY     /* the change returns daily and is learned, ek_learned_reason */
};

/* Files of a baseline, in its folder. */
enum ek_learned_file { EK_LEARNED_MANIFEST, EK_LEARNED_RULES, EK_LEARNED_PROFILE };
enum { EK_LEARNED_FILES = EK_LEARNED_PROFILE + 1 };
/* Return the name of a file within the folder, a static string. */
const char *ek_learned_file_name(enum ek_learned_file file);

/* Segment dimension of the first batch. */
enum { EK_LEARNED_VALUES = 64, EK_LEARNED_NAME_BYTES = 100 };
struct ek_learned_dimension {
    char name[EK_LEARNED_NAME_BYTES];
    uint64_t lists; /* with a value */
    int values;     /* distinct; EK_LEARNED_VALUES + 1: more */
    uint64_t hash[EK_LEARNED_VALUES];
    bool in_rules;
};

/* Fields that the first batch has. */
struct ek_learned_fields {
    uint64_t messages, lists, items, ids, times, scores; /* the last three: lists with one */
    char first_fault[EK_LEARNED_TEXT_BYTES];             /* of a message that is no list, or "" */
    bool json;
    int dimensions;
    struct ek_learned_dimension dimension[EK_SEGMENTS_MAX];
};

/* Create a baseline with files in `folder`, which must exist. given: mapping of a configuration,
 * which must outlive it; NULL: find one. Return 0, EK_ENOMEM or
 * EK_EIO. */
int ek_learned_new(struct ek_learned_baseline **out, const char *folder,
                   const struct ek_field_mapping *given, const struct ek_learned_limits *limits,
                   struct ek_error *e);
/* Free the baseline, and delete its files. NULL is allowed. */
void ek_learned_free(struct ek_learned_baseline *b);
/* Add a message, with the time of its record or -1, and set *step. Return 0, EK_EFORMAT if the
 * messages are no lists, EK_EIO or EK_ENOMEM. */
int ek_learned_add(struct ek_learned_baseline *b, const void *bytes, size_t length, int64_t time_ms,
                   enum ek_learned_step *step, struct ek_error *e);
/* End the current batch early if it has no open finding, because the topic's past has ended. Return
 * as ek_learned_add. */
int ek_learned_end_batch(struct ek_learned_baseline *b, enum ek_learned_step *step,
                         struct ek_error *e);
/* Return whether no more messages are needed: the baseline has its most lists or bytes. */
bool ek_learned_is_complete(const struct ek_learned_baseline *b);
/* Return whether a finding is open, so that the baseline does not grow. */
bool ek_learned_is_waiting(const struct ek_learned_baseline *b);
/* Return the lists of the profile; 0 before the first one. */
uint64_t ek_learned_lists(const struct ek_learned_baseline *b);
/* Return the messages of the first batch so far. */
uint64_t ek_learned_collected(const struct ek_learned_baseline *b);
/* Return the change of the last step with a reason, with its times, owned by the baseline; ""
 * before the first one. */
const char *ek_learned_reason(const struct ek_learned_baseline *b);
/* Return the mapping, valid as long as the baseline, from EK_LEARNED_MAPPED on. */
const struct ek_mapping *ek_learned_mapping(const struct ek_learned_baseline *b);
/* Return the manifest, fields and path of a file, owned by the baseline; the first two from the
 * first EK_LEARNED_PROFILED on. */
const struct ek_manifest *ek_learned_manifest(const struct ek_learned_baseline *b);
const struct ek_learned_fields *ek_learned_fields(const struct ek_learned_baseline *b);
const char *ek_learned_path(const struct ek_learned_baseline *b, enum ek_learned_file file);
/* Measure the sharpness of the current profile on its lists, which takes up to seconds. Call after
 * EK_LEARNED_PROFILED. Return 0, EK_EIO or EK_ENOMEM. */
int ek_learned_measure(struct ek_learned_baseline *b, struct ek_error *e);
/* Write the last measured sharpness: "2,000 lists: x10 after about 10, x2 after about 20,
 * x1.2 not yet", with the medians of the features. */
void ek_learned_sharpness(const struct ek_learned_baseline *b, char text[EK_LEARNED_TEXT_BYTES]);

#endif
