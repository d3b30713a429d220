#include "daemon/files/routing_warning.h"

#include <inttypes.h>
#include <stdio.h>

enum { ADVICE_BYTES = 300, PATH_SHOWN = 200 };

void ek_routing_warn(const char *path, const struct ek_model *m, const struct ek_treatment *t,
                     struct ek_log *log)
{
    char advice[ADVICE_BYTES], text[ADVICE_BYTES + PATH_SHOWN + 3];
    if (!ek_model_routing_warning(m, t, advice, sizeof advice))
        return;
    snprintf(text, sizeof text, "%.*s: %s", PATH_SHOWN, path, advice);
    if (log)
        ek_log_text(log, EK_LOG_WARN, "model_routing_mismatched", text);
    else
        fprintf(stderr, "evenkeel: %s\n", text);
}

void ek_routing_agreement_print(const struct ek_model_agreement *f, size_t lists, FILE *to)
{
    static const char *const names[EK_AGREEMENT_STATISTICS] = {
        "Kendall tau", "NDCG@10 under its order", "the same first item"};
    fprintf(to, "compared with the upstream scorer, mean and sd over %" PRIu64 " of %zu lists:\n",
            f->lists, lists);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS && f->lists; i++)
        fprintf(to, "  %-24s %.4f  %.4f\n", names[i], f->mean[i], f->sd[i]);
    if (!f->lists)
        fputs("  none of them has different upstream scores\n", to);
}

void ek_routing_agreement_print_json(const struct ek_model_agreement *f, FILE *to)
{
    fprintf(to, "{\"lists\":%" PRIu64, f->lists);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        fprintf(to, ",\"%s\":", ek_agreement_statistic_name((enum ek_agreement_statistic)i));
        if (f->lists)
            fprintf(to, "{\"mean\":%.9g,\"sd\":%.9g}", f->mean[i], f->sd[i]);
        else
            fputs("null", to);
    }
    fputc('}', to);
}
