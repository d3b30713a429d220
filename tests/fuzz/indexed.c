#include "tests/fuzz/indexed.h"

#include "base/file.h"
#include "base/rng.h"
#include "tests/fuzz/fuzz.h"
#include "text/index/build.h"

#include <string.h>

enum { WORDS = 18, LONGEST = 4, TEXT = 8 * LONGEST };

/* The first words are in most documents, the last in few; some fields are empty. */
static size_t any_text(char text[TEXT], struct ek_rng *r)
{
    size_t n = 0;
    for (uint64_t left = ek_rng_uniform_int(r, LONGEST + 1); left; left--) {
        uint64_t word =
            ek_rng_uniform_int(r, 1 + ek_rng_uniform_int(r, 1 + ek_rng_uniform_int(r, WORDS)));
        n += (size_t)snprintf(text + n, TEXT - n, "w%d ", (int)word);
    }
    return n;
}

static void add(struct ek_build *b, int number, struct ek_rng *r)
{
    char id[16], url[48], text[EK_FIELDS][TEXT];
    struct ek_record_text t = {.line = number + 1};
    struct ek_error e = {0};
    t.id = (struct ek_text){id, (size_t)snprintf(id, sizeof id, "d%d", number)};
    if (number % 2)
        t.url = (struct ek_text){
            url, (size_t)snprintf(url, sizeof url, "http://example.org/a/%d", number)};
    for (int f = 0; f < EK_FIELDS; f++)
        t.field[f] = (struct ek_text){text[f], any_text(text[f], r)};
    ek_fuzz_require(!ek_build_add(b, &t, "made up", &e), e.message);
}

const struct ek_buf *ek_fuzz_index(void)
{
    static struct ek_buf bytes;
    char folder[] = "/tmp/ek-fuzz-XXXXXX", path[sizeof folder + 8];
    struct ek_build *b;
    struct ek_rng r;
    struct ek_error e = {0};
    if (bytes.length)
        return &bytes;
    ek_rng_seed(&r, 1);
    ek_fuzz_require(mkdtemp(folder) != NULL, "no folder");
    snprintf(path, sizeof path, "%s/index", folder);
    ek_fuzz_require(!ek_build_new(&b, path, "none", EK_BUILD_MEMORY_MIN, &e), e.message);
    for (int i = 0; i < EK_FUZZ_DOCUMENTS; i++)
        add(b, i, &r);
    ek_fuzz_require(!ek_build_finish(b, NULL, NULL, &e), e.message);
    ek_build_free(b);
    ek_buf_init(&bytes, 0);
    ek_fuzz_require(!ek_file_read(path, &bytes, &e), e.message);
    unlink(path);
    rmdir(folder);
    return &bytes;
}
