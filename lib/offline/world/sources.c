#include "offline/world/sources.h"

#include "base/hash.h"

void ek_sources_draw(uint8_t *source, int items, int sources, uint64_t number, uint64_t seed)
{
    static const char name[] = "source";
    uint64_t own = ek_hash(name, sizeof name - 1, seed);
    for (int k = 0; k < items; k++) {
        uint8_t bytes[2 * sizeof number];
        for (size_t i = 0; i < sizeof number; i++) {
            bytes[i] = (uint8_t)(number >> (8 * i));
            bytes[sizeof number + i] = (uint8_t)((uint64_t)k >> (8 * i));
        }
        source[k] = (uint8_t)(ek_hash(bytes, sizeof bytes, own) % (uint64_t)sources);
    }
}
