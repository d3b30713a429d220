#include "daemon/state/state_note.h"

#include "base/error.h"
#include "base/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 320 };

int ek_state_note_add(struct ek_buf *note, const char *topic, int partition, int64_t seen)
{
    char line[LINE_BYTES];
    int length = snprintf(line, sizeof line, "%s/%d %" PRId64 "\n", topic, partition, seen);
    return length < (int)sizeof line ? ek_buf_add(note, line, (size_t)length) : EK_ELIMIT;
}

int64_t ek_state_note_seen(const void *note, size_t length, const char *topic, int partition)
{
    char name[LINE_BYTES];
    int64_t seen;
    const char *at = note, *end = length ? at + length : at;
    size_t size = (size_t)snprintf(name, sizeof name, "%s/%d ", topic, partition);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t line = (size_t)((stop ? stop : end) - at);
        if (line > size && !memcmp(at, name, size))
            return ek_parse_i64(at + size, line - size, &seen) || seen < 0 ? -1 : seen;
        at += line + (stop != NULL);
    }
    return -1;
}
