/* What the demonstration prepares: a plain model for the pipeline before evenkeel, a routable
 * model, a profile, a manifest and rules, as files in a temporary folder of their own.
 *
 * Owner: the caller; ek_demo_assets_remove deletes the folder. Texts are paths.
 */
#ifndef EK_DAEMON_DEMO_DEMO_ASSETS_H
#define EK_DAEMON_DEMO_DEMO_ASSETS_H

#include "base/error.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_DEMO_PATH = 512 };

struct ek_demo_assets {
    char folder[EK_DEMO_PATH]; /* empty: nothing there */
    char manifest_path[EK_DEMO_PATH], rules[EK_DEMO_PATH], profile[EK_DEMO_PATH];
    char upstream[EK_DEMO_PATH], routable[EK_DEMO_PATH]; /* models */
    struct ek_manifest *manifest;
};

/* Whether to give up; asked now and then from two threads. */
struct ek_demo_stop {
    bool (*asked)(void *context);
    void *context;
};

/* Generates, fits, trains (two models at a time); tells its progress on stderr. EK_ESTATE when it
 * was stopped. On failure the folder is gone. */
int ek_demo_assets_make(struct ek_demo_assets *a, uint64_t seed, struct ek_demo_stop stop,
                        struct ek_error *e);
void ek_demo_assets_remove(struct ek_demo_assets *a);

#endif
