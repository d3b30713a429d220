/* Instance of `evenkeel watch`: a stage without output on its own thread, its page, and its events
 * as lines of text. One thread. */
#ifndef EK_DAEMON_COMMANDS_WATCH_INSTANCE_H
#define EK_DAEMON_COMMANDS_WATCH_INSTANCE_H

#include "daemon/config/config.h"
#include "daemon/stage/stage.h"
#include "guard/event.h"

struct ek_watch_instance;

/* Class, factor and fraction of a finding when it was last printed. */
struct ek_watch_shown {
    enum ek_class class;
    double factor, fraction; /* NaN: unknown */
};

/* Return whether a finding is to be printed, which updates *shown: it is confirmed, has recovered,
 * or has another class, or another factor or fraction by half. */
bool ek_watch_is_news(struct ek_watch_shown *shown, const struct ek_event_finding *f);

/* Start an instance of a configuration and its assets, with the page at the first free port from
 * that of `http.listen` on. Takes the configuration, also on failure. Return 0, EK_ECONFIG, EK_EIO
 * or EK_ENOMEM. */
int ek_watch_instance_start(struct ek_watch_instance **out, struct ek_config *config,
                            struct ek_error *e);
/* Load the assets again, and use them. Return 0 or an error, which changes nothing. */
int ek_watch_instance_reload(struct ek_watch_instance *w, struct ek_error *e);
/* Return 0 while the stage runs, else its error. */
int ek_watch_instance_check(const struct ek_watch_instance *w, struct ek_error *e);
/* Return the port of the page, 0 if no port was free. */
int ek_watch_instance_port(const struct ek_watch_instance *w);
/* Set *out to the counts of the stage. */
void ek_watch_instance_stats(struct ek_watch_instance *w, struct ek_stage_stats *out);
/* Return the reason that the stage is not ready, a static string, or NULL. */
const char *ek_watch_instance_reason(struct ek_watch_instance *w);
/* Set the numbers of open findings: suspected and confirmed ones. */
void ek_watch_instance_open(struct ek_watch_instance *w, int *suspected, int *confirmed);
/* Return the sentence of the next finding that is confirmed, has changed much or has recovered,
 * which the caller frees, or NULL. */
char *ek_watch_instance_news(struct ek_watch_instance *w);
/* Stop the stage, end the page and free the instance. Return 0, or the error of a stage that had
 * ended. NULL is allowed. */
int ek_watch_instance_stop(struct ek_watch_instance *w, struct ek_error *e);

#endif
