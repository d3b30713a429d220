#include "daemon/files/fidelity_report.h"

#include <inttypes.h>

void ek_fidelity_print(const struct ek_fidelity *f, size_t lists, FILE *to)
{
    static const char *const names[EK_FIGURES] = {"Kendall tau", "NDCG@10 under its order",
                                                  "the same first item"};
    fprintf(to, "beside the upstream scorer, mean and sd over %" PRIu64 " of %zu lists:\n",
            f->lists, lists);
    for (int i = 0; i < EK_FIGURES && f->lists; i++)
        fprintf(to, "  %-24s %.4f  %.4f\n", names[i], f->mean[i], f->sd[i]);
    if (!f->lists)
        fputs("  none of them has upstream scores that differ\n", to);
}

void ek_fidelity_print_json(const struct ek_fidelity *f, FILE *to)
{
    fprintf(to, "{\"lists\":%" PRIu64, f->lists);
    for (int i = 0; i < EK_FIGURES; i++) {
        fprintf(to, ",\"%s\":", ek_figure_name((enum ek_figure)i));
        if (f->lists)
            fprintf(to, "{\"mean\":%.9g,\"sd\":%.9g}", f->mean[i], f->sd[i]);
        else
            fputs("null", to);
    }
    fputc('}', to);
}
