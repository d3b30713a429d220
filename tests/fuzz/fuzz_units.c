/* Unit catalogs: one without an error is complete, and each conversion has an inverse. */
#include "schema/units.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <math.h>
#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static const char keys[] = "units id quantity from to factor inverse text version";
    static const char values[] =
        "1 100 0.01 1e-300 1e300 inf -1 min minutes [min,minutes] length time money si.km_m a.b_c";
    static struct ek_fuzz_words w;
    if (!w.keys) {
        ek_fuzz_keys(&w, keys);
        ek_fuzz_values(&w, values);
    }
    return ek_fuzz_mutate_lines(data, size, most, seed, &w);
}

static void check(const struct ek_units *own)
{
    ek_fuzz_require(own->count <= EK_CUSTOM_UNITS_MAX, "more units than the limit");
    for (size_t i = 0; i < own->count; i++) {
        const struct ek_unit *u = &own->unit[i];
        ek_fuzz_require(u->id && *u->id && strlen(u->id) <= EK_UNIT_ID_BYTES_MAX, "no id");
        ek_fuzz_require(isfinite(u->factor) && u->factor > 0 && u->factor != 1,
                        "a factor that is none");
        ek_fuzz_require(u->text && strlen(u->text) <= EK_UNIT_TEXT_BYTES_MAX, "no text");
        ek_fuzz_require(ek_units_find(own, u->id) == u, "an id that stands twice");
        ek_fuzz_require(!u->inverse || ek_units_find(own, u->inverse), "no such way back");
    }
}

static void ask(const struct ek_units *own, const char *text)
{
    struct ek_measure m = ek_units_measure(own, text);
    const struct ek_unit *u;
    for (size_t i = 0; (u = ek_units_at(own, i)); i++)
        ek_fuzz_require(ek_unit_fit(u, &m) <= EK_UNIT_OTHER, "a fit that is none");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_units own, again;
    struct ek_error_list faults;
    struct ek_error e = {0};
    const char *text = (const char *)data;
    ek_units_init(&own);
    ek_units_init(&again);
    ek_error_list_init(&faults);
    int rc = ek_units_parse(&own, "input", text, size, NULL, &e);
    int all = ek_units_parse(&again, "input", text, size, &faults, &e);
    ek_fuzz_require(!rc == !all, "taken by one reading and refused by the other");
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    if (!rc) {
        ek_fuzz_take();
        ek_fuzz_require(!own.incomplete && own.count == again.count, "some are missing");
        check(&own);
    }
    for (size_t i = 1; i < faults.count; i++)
        ek_fuzz_require(faults.errors[i - 1].line <= faults.errors[i].line, "faults out of order");
    char word[100] = "";
    memcpy(word, data, size < 99 ? size : 99);
    ask(&own, word);
    ek_error_list_release(&faults);
    ek_units_release(&own);
    ek_units_release(&again);
    return 0;
}
