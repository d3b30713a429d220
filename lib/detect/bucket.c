#include "detect/bucket.h"

#include "base/hash.h"
#include "detect/repeats.h"

static int bucket_of(const void *bytes, size_t length)
{
    return (int)(ek_hash(bytes, length, EK_BUCKET_SEED) % EK_BUCKETS);
}

int ek_bucket_of(const struct ek_query *q)
{
    if (q->id.text && q->id.length)
        return bucket_of(q->id.text, q->id.length);
    uint64_t key = ek_repeat_key(q, EK_SAME_QUERY_FEATURES | EK_SAME_ITEM_IDS);
    return bucket_of(&key, sizeof key);
}
