#include "lists/codec.h"
#include "lists/codec_json.h"
#include "lists/codec_wire.h"

enum { DEPTH = 32 };

static int64_t time_of(const struct ek_head *h)
{
    bool whole = h->kind == EK_WIRE_UINT || h->kind == EK_WIRE_INT;
    return whole && h->bits <= INT64_MAX ? (int64_t)h->bits : -1;
}

static int64_t find_time(const void *bytes, size_t length)
{
    static const char name[] = "time_ms";
    struct ek_wire w = {bytes, bytes, (const uint8_t *)bytes + length};
    struct ek_head map, key;
    if (ek_wire_head(&w, &map) != EK_WIRE_OK || map.kind != EK_WIRE_MAP)
        return -1;
    for (uint32_t i = 0; i < map.count; i++) {
        if (ek_wire_head(&w, &key) != EK_WIRE_OK || key.kind != EK_WIRE_TEXT)
            return -1;
        bool found = key.count == sizeof name - 1 && !memcmp(w.p, name, key.count);
        w.p += key.count;
        if (found)
            return ek_wire_head(&w, &key) == EK_WIRE_OK ? time_of(&key) : -1;
        if (ek_wire_skip(&w, DEPTH) != EK_WIRE_OK)
            return -1;
    }
    return -1;
}

int64_t ek_codec_time(const void *bytes, size_t length)
{
    struct ek_json *json = NULL;
    struct ek_json_fault fault;
    int64_t time = -1;
    if (!ek_codec_is_json(bytes, length))
        return find_time(bytes, length);
    if (!ek_json_read(&json, bytes, length, EK_JSON_DEPTH_MAX, &fault)) {
        const uint8_t *wire = ek_json_wire(json, &length);
        time = find_time(wire, length);
    }
    ek_json_free(json);
    return time;
}
