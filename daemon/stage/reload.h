/* One reload: the files of a configuration are read again, and taken into a running stage when
 * nothing is wrong with them.
 *
 * Owner: the caller, ek_reload_release. One thread at a time.
 */
#ifndef EK_DAEMON_STAGE_RELOAD_H
#define EK_DAEMON_STAGE_RELOAD_H

#include "base/error_list.h"
#include "daemon/base/log.h"
#include "daemon/config/config.h"
#include "daemon/config/auth.h"
#include "daemon/stage/stage.h"

struct ek_reload {
    bool done;                   /* else nothing has changed, and there are faults */
    struct ek_error_list faults; /* all of them, with places */
    struct ek_error_list notes;  /* what takes a restart */
    enum ek_restore_result fit;  /* what of the guard goes on */
    enum ek_log_level log_level; /* that the configuration has now */
    struct ek_tokens *tokens;    /* as the file has them now; NULL: none is named */
};

/* What a running stage can be told that takes its time: a reload of rules, profile and model.
 *
 * A reload reads the configuration file again and what it names, beside what is in use, and is done
 * as a whole or not at all: with any fault everything stays as it was, and all faults are told. Of
 * the configuration only keys that are marked reloadable may take effect; others are told as notes.
 * The stage must outlive it. Threads: any; ek_reload_service_signal a signal handler, too. The work
 * is done by a thread of its own.
 */
struct ek_reload_service;

/* `config`: that of the stage, read from a file. `tokens`, those of the file that it names, are
 * read again as well; NULL: none. Both must outlive it. EK_ENOMEM, EK_EIO. */
int ek_reload_service_new(struct ek_reload_service **out, struct ek_stage *stage,
                          const struct ek_config *config, struct ek_tokens *tokens,
                          struct ek_log *log, struct ek_error *e);
/* Waits for a reload that has begun. NULL is allowed. */
void ek_reload_service_free(struct ek_reload_service *s);

/* A reload is wished, by a signal. */
void ek_reload_service_signal(struct ek_reload_service *s);
/* The same by somebody (NULL: not said), at most EK_AUTHOR_BYTES of it. reset_state: also where
 * other `segments` or another `stratify_by` of the rules make evidence, findings and routes begin
 * anew, which else is a fault. The number of the reload that will have seen the files as they are
 * now, or later. */
uint64_t ek_reload_service_request(struct ek_reload_service *s, bool reset_state,
                                   const char *author);
/* Appends the last reload as a JSON object (docs/operations.md): `state` is never, loading, done or
 * refused. EK_ENOMEM. */
int ek_reload_service_json(struct ek_reload_service *s, struct ek_buf *out);

#endif
