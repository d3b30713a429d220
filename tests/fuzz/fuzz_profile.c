/* Profiles: one that loads and fits a manifest can be queried and saved. */
#include "assets/profile.h"
#include "offline/fit/profile_fit.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

static const char *const FEATURES[] = {"features:\n"
                                       "  - {name: price, index: 1, role: item}\n"
                                       "  - {name: nights, index: 2, role: query}\n",
                                       "features:\n"
                                       "  - {name: price, index: 1, role: item, type: category}\n"
                                       "  - {name: nights, index: 2, role: query}\n"};

/* Merge data of a profile; it may have none. */
static void join(const char *path, const struct ek_manifest *m)
{
    struct ek_profile *p, *joined;
    struct ek_profile_fit *fit;
    struct ek_error e = {0};
    if (ek_profile_load_lists(&p, path, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        return;
    }
    ek_fuzz_require(!ek_profile_fit_new(&fit, m, p->field, &e), e.message);
    ek_fuzz_require(!ek_profile_fit_merge(fit, p, &e), e.message);
    if (!ek_profile_fit_finish(fit, &joined, &e))
        ek_profile_free(joined);
    else
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    ek_profile_fit_free(fit);
    ek_profile_free(p);
}

/* Query a matching profile. */
static void use(const struct ek_profile *p)
{
    char saved[EK_FUZZ_PATH_BYTES];
    struct ek_error e = {0};
    ek_fuzz_require(ek_profile_stratum(p, "m1", 2) >= 0, "no stratum for a value");
    ek_fuzz_require(ek_category_find(&p->category[0], 5) < p->category[0].count, "no such value");
    snprintf(saved, sizeof saved, "/dev/shm/ek-fuzz-%d", (int)getpid());
    ek_fuzz_require(!ek_profile_save(p, saved, &e), e.message);
    unlink(saved);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return ek_fuzz_mutate_tensors(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest[2];
    struct ek_profile *p;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES];
    for (int i = 0; i < 2 && !manifest[i]; i++)
        ek_fuzz_require(
            !ek_manifest_parse(&manifest[i], "m", FEATURES[i], strlen(FEATURES[i]), NULL),
            "the manifest cannot be read");
    int fd = ek_fuzz_file(data, size, path);
    if (ek_profile_load(&p, path, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        close(fd);
        return 0;
    }
    for (int i = 0; i < 2; i++)
        if (!ek_profile_check(p, manifest[i], NULL)) {
            ek_fuzz_take();
            use(p);
            join(path, manifest[i]);
        }
    ek_profile_free(p);
    close(fd);
    return 0;
}
