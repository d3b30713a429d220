/* Messages: decode, patch, decode again; msgpack-c must agree on all of it. */
#include "tests/codec_oracle.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    static struct ek_codec *codec;
    const struct ek_codec_limits limits = {.depth = EK_ORACLE_DEPTH, .items = 1000};
    bool accepted;
    if (!codec) {
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", EK_ORACLE_FEATURES,
                                           strlen(EK_ORACLE_FEATURES), NULL),
                        "the manifest cannot be read");
        ek_fuzz_require(!ek_codec_new(&codec, manifest, NULL, &limits, NULL), "no codec");
    }
    const char *fault = ek_oracle_fault(codec, manifest, data, size, &accepted);
    ek_fuzz_require(!fault, fault);
    return 0;
}
