/* Reload service: replaces configuration, rules, profile and model of a running stage without a
 * restart. A thread of its own reads and checks the files; a rejected reload changes nothing.
 * Threads: any. */
#ifndef EK_DAEMON_STAGE_RELOAD_H
#define EK_DAEMON_STAGE_RELOAD_H

#include "base/error_list.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/config/auth.h"
#include "daemon/stage/stage.h"

struct ek_reload {
    bool done;                   /* false: nothing has changed, see `faults` */
    struct ek_error_list faults; /* all errors, with file positions */
    struct ek_error_list notes;  /* changes that require a restart */
    enum ek_restore_result fit;  /* part of the guard's state that is kept */
    enum ek_log_level log_level; /* log level of the new configuration */
    struct ek_tokens *tokens;    /* API tokens of the new configuration; NULL: none */
};

/* Service that reloads on request, on its own thread.
 *
 * A reload reads the configuration and its files again and is applied completely or, with any
 * error, not at all. All errors are reported. Only keys marked reloadable take effect; other
 * changes are reported as notes. The stage must outlive the service. Any thread;
 * ek_reload_service_signal also from a signal handler.
 */
struct ek_reload_service;

/* Start the service. `config` is the stage's configuration, read from a file. `tokens` are
 * reloaded, too; may be NULL. Both must outlive the service. Return 0, EK_ENOMEM or EK_EIO. */
int ek_reload_service_new(struct ek_reload_service **out, struct ek_stage *stage,
                          const struct ek_config *config, struct ek_tokens *tokens,
                          struct ek_log *log, struct ek_error *e);
/* Wait for a reload in progress and free the service. NULL is allowed. */
void ek_reload_service_free(struct ek_reload_service *s);

/* Request a reload. Async-signal-safe. */
void ek_reload_service_signal(struct ek_reload_service *s);
/* Request a reload for `author` (NULL: unknown; at most EK_AUTHOR_BYTES). With the flag set,
 * changed `segments` or `stratify_by` reset evidence, findings and routes; otherwise such a change
 * is an error. Return the number of a reload that reads the files after this call. */
uint64_t ek_reload_service_request(struct ek_reload_service *s, bool reset_state,
                                   const char *author);
/* Append the last reload as a JSON object (docs/reload.md): `state` is never, loading, done or
 * refused. Return 0 or EK_ENOMEM. */
int ek_reload_service_json(struct ek_reload_service *s, struct ek_buf *out);

/* Replace the assets of a running stage by others of the same manifest, which the stage then owns,
 * also on failure. Evidence, findings and routes are kept only with an equal profile. Not with a
 * reload service. Return 0, or an error, which changes nothing. */
int ek_stage_replace_assets(struct ek_stage *s, struct ek_assets *assets, struct ek_error *e);

#endif
