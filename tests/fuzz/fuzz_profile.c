/* Profiles: one that is loaded and fits a manifest can be asked and saved. */
#include "data/profile.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: nights, index: 2, role: query}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    struct ek_profile *p;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES], saved[EK_FUZZ_PATH_BYTES];
    if (!manifest)
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", FEATURES, strlen(FEATURES), NULL),
                        "the manifest cannot be read");
    int fd = ek_fuzz_file(data, size, path);
    if (ek_profile_load(&p, path, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        close(fd);
        return 0;
    }
    if (!ek_profile_check(p, manifest, NULL)) {
        ek_fuzz_require(ek_profile_stratum(p, "m1", 2) >= 0, "no stratum for a value");
        snprintf(saved, sizeof saved, "/tmp/ek-fuzz-%d", (int)getpid());
        ek_fuzz_require(!ek_profile_save(p, saved, &e), e.message);
        unlink(saved);
    }
    ek_profile_free(p);
    close(fd);
    return 0;
}
