/* Files of the demo in a temporary folder: the plain model of the simulated upstream, a routable
 * model, a profile, a manifest and rules.
 *
 * Strings are paths. ek_demo_assets_remove deletes the folder.
 */
#ifndef EK_DAEMON_DEMO_DEMO_ASSETS_H
#define EK_DAEMON_DEMO_DEMO_ASSETS_H

#include "base/error.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_DEMO_PATH = 512 };

struct ek_demo_assets {
    char folder[EK_DEMO_PATH]; /* empty: no folder */
    char manifest_path[EK_DEMO_PATH], rules[EK_DEMO_PATH], profile[EK_DEMO_PATH];
    char upstream[EK_DEMO_PATH], routable[EK_DEMO_PATH]; /* models */
    struct ek_manifest *manifest;
};

/* Callback that returns true to cancel; called from two threads. */
struct ek_demo_stop {
    bool (*is_canceled)(void *context);
    void *context;
};

/* Generate lists, make the profile and train both models in parallel, with progress on stderr.
 * Return 0, EK_ESTATE if canceled, EK_EIO, EK_ENOMEM, or an error of training. On failure the
 * folder is removed. */
int ek_demo_assets_make(struct ek_demo_assets *a, uint64_t seed, struct ek_demo_stop stop,
                        struct ek_error *e);
/* Delete the folder and free the paths. */
void ek_demo_assets_remove(struct ek_demo_assets *a);

#endif
