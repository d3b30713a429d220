/* Checkpoint metrics and status. */
#include "daemon/state/checkpoint_internal.h"
#include "tests/check.h"

#include <stdbool.h>
#include <string.h>

static bool has(struct ek_buf *text, const char *part)
{
    return strstr(ek_buf_string(text), part) != NULL;
}

START_TEST(metrics_say_what_was_written_read_and_missing)
{
    struct ek_buf text;
    struct ek_checkpoint_status *r = ek_checkpoint_status_new("s");
    ek_buf_init(&text, 0);
    ek_checkpoint_status_saved(r, 7, 1000, .004, 100);
    ek_checkpoint_status_saved(r, 8, 500, .002, 200);
    ek_checkpoint_status_restored(r, .25);
    ek_checkpoint_status_gap(r, EK_LOSS_RETENTION);
    ck_assert_int_eq(ek_checkpoint_status_metrics(r, 1500, 700, &text), 0);
    ck_assert(has(&text, "\nevenkeel_checkpoints_total 2\n"));
    ck_assert(has(&text, "\nevenkeel_checkpoint_bytes_total 1500\n"));
    ck_assert(has(&text, "\nevenkeel_checkpoint_duration_seconds 0.002\n"));
    ck_assert(has(&text, "\nevenkeel_restore_duration_seconds 0.25\n"));
    ck_assert(has(&text, "\nevenkeel_restore_pending_seconds 1.5\n"));
    ck_assert(has(&text, "\nevenkeel_state_loss_total{reason=\"retention\"} 1\n"));
    ck_assert(has(&text, "\nevenkeel_state_loss_total{reason=\"not_found\"} 0\n"));
    ek_buf_release(&text);
    ek_checkpoint_status_free(r);
}
END_TEST

START_TEST(the_status_says_how_old_the_last_one_is)
{
    struct ek_buf text;
    struct ek_checkpoint_status *r = ek_checkpoint_status_new("s");
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_checkpoint_status_json(r, 500, &text), 0);
    ck_assert(has(&text, "{\"topic\":\"s\",\"checkpoint\":0,\"checkpoints\":0,\"age_ms\":-1,"));
    ek_buf_clear(&text);
    ek_checkpoint_status_saved(r, 8, 500, .002, 200);
    ck_assert_int_eq(ek_checkpoint_status_json(r, 500, &text), 0);
    ck_assert(has(&text, "{\"topic\":\"s\",\"checkpoint\":8,\"checkpoints\":1,\"age_ms\":300,"));
    ek_buf_release(&text);
    ek_checkpoint_status_free(r);
}
END_TEST

Suite *suite_checkpoint_status(void)
{
    return ek_suite("state_report", metrics_say_what_was_written_read_and_missing,
                    the_status_says_how_old_the_last_one_is);
}
