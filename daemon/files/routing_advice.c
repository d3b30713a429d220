#include "daemon/files/routing_advice.h"

#include <stdio.h>

enum { ADVICE_BYTES = 300, PATH_SHOWN = 200 };

void ek_routing_warn(const char *path, const struct ek_model *m, const struct ek_treatment *t,
                     struct ek_log *log)
{
    char advice[ADVICE_BYTES], text[ADVICE_BYTES + PATH_SHOWN + 3];
    if (!ek_model_routing_advice(m, t, advice, sizeof advice))
        return;
    snprintf(text, sizeof text, "%.*s: %s", PATH_SHOWN, path, advice);
    if (log)
        ek_log_text(log, EK_LOG_WARN, "model_routing", text);
    else
        fprintf(stderr, "evenkeel: %s\n", text);
}
