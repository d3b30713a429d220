#include "fleet/fleet_instance.h"

#include "base/alloc.h"
#include "fleet/leader.h"

#include <string.h>

enum { RECORD_BYTES_MAX = 64 << 20 };

struct ek_fleet_instance {
    struct ek_detector *detector;
    struct ek_instance_plans *plans;
    char name[EK_FLEET_NAME_MAX + 1];
    struct ek_fleet_head head;
    int cells;
    struct ek_buf record;
    struct ek_fleet_row_reply answer[EK_ROW_REQUESTS_MAX]; /* [answers] */
    int answers;
    bool found; /* a finding awaits the next report */
};

int ek_fleet_instance_new(struct ek_fleet_instance **out, struct ek_detector *d,
                          const struct ek_fleet_instance_setup *setup, struct ek_error *e)
{
    struct ek_fleet_instance *m = ek_calloc(1, sizeof *m);
    if (!m)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_init(&m->record, RECORD_BYTES_MAX);
    m->detector = d;
    memcpy(m->name, setup->name, strnlen(setup->name, EK_FLEET_NAME_MAX));
    m->cells = setup->cells > 0 ? setup->cells : EK_FLEET_CELLS_DEFAULT_MAX;
    m->head = (struct ek_fleet_head){.instance = ek_text_from(m->name),
                                     .start = setup->start,
                                     .manifest = ek_detector_manifest(d)->hash,
                                     .profile = ek_profile_hash(setup->profile)};
    int rc = ek_instance_plans_new(&m->plans, d, m->head.profile)
                 ? ek_fail(e, EK_ENOMEM, "out of memory")
                 : ek_detector_join(d, EK_FLEET_SHARE_LOCAL, e);
    if (rc) {
        ek_fleet_instance_free(m);
        return rc;
    }
    *out = m;
    return EK_OK;
}

void ek_fleet_instance_free(struct ek_fleet_instance *m)
{
    if (!m)
        return;
    ek_instance_plans_free(m->plans);
    ek_buf_release(&m->record);
    ek_free(m);
}

struct ek_instance_plans *ek_fleet_instance_plans(struct ek_fleet_instance *m)
{
    return m->plans;
}

static struct ek_fleet_row_reply answer_to(const struct ek_fleet_instance *m, int feature,
                                           const struct ek_row_request *request)
{
    for (int i = 0; i < m->answers; i++)
        if (m->answer[i].feature == feature && m->answer[i].number == request->number)
            return m->answer[i];
    return (struct ek_fleet_row_reply){
        feature, request->number, 0, ek_detector_tracked(m->detector, feature), 0, false};
}

/* Replace the row requests; known requests keep their progress. */
static void read_requests(struct ek_fleet_instance *m)
{
    struct ek_row_request request[EK_ROW_REQUESTS_MAX];
    struct ek_fleet_row_reply now[EK_ROW_REQUESTS_MAX];
    int requests = ek_instance_plans_row_requests(m->plans, request);
    for (int i = 0; i < requests; i++) {
        int feature =
            ek_manifest_find_watched(ek_detector_manifest(m->detector), request[i].feature);
        now[i] = answer_to(m, feature, &request[i]);
        now[i].rows =
            request[i].rows < EK_FLEET_ROWS_MAX ? (int)request[i].rows : EK_FLEET_ROWS_MAX;
    }
    memcpy(m->answer, now, (size_t)requests * sizeof *now);
    m->answers = requests;
}

void ek_fleet_instance_add_finding(struct ek_fleet_instance *m, const struct ek_finding *f)
{
    m->found |= f->state != EK_UPDATED; /* new statistics can wait */
}

bool ek_fleet_instance_has_findings(const struct ek_fleet_instance *m)
{
    return m->found;
}

bool ek_fleet_instance_is_sampled(const struct ek_fleet_instance *m)
{
    return ek_instance_plans_needs_rows(m->plans);
}

/* Destination of records. */
struct output_writer {
    int (*write)(void *context, const void *bytes, size_t length);
    void *context;
};

static int write_record(struct ek_fleet_instance *m, const struct output_writer *out)
{
    return out->write(out->context, m->record.data, m->record.length);
}

static int write_sums(struct ek_fleet_instance *m, const struct output_writer *out)
{
    m->head.number++;
    m->found = false;
    ek_buf_clear(&m->record);
    int rc = ek_evidence_report_write(m->detector, &m->head, m->cells, &m->record);
    ek_evidence_sum_clear(ek_detector_evidence_sum(m->detector));
    m->head.row = ek_detector_rows(m->detector, &(uint64_t){0});
    return rc ? rc : write_record(m, out);
}

/* `all`: also answer requests without new rows. */
static int write_answers(struct ek_fleet_instance *m, bool all, const struct output_writer *out)
{
    int rc = EK_OK;
    for (int i = 0; i < m->answers && !rc; i++) {
        if (!all && !ek_fleet_rows_due(m->detector, &m->answer[i]))
            continue;
        ek_buf_clear(&m->record);
        rc = ek_fleet_rows_write(m->detector, &m->head, &m->answer[i], &m->record);
        if (!rc)
            rc = write_record(m, out);
    }
    return rc;
}

/* The leader knows an instance by its first report, so answers must follow it. */
static int write_report(struct ek_fleet_instance *m, int64_t stream_ms, bool with_sums,
                        const struct output_writer *out, struct ek_error *e)
{
    ek_instance_plans_apply_accepted(m->plans);
    m->head.time_ms = stream_ms;
    m->head.normal = ek_instance_plans_normal(m->plans);
    read_requests(m);
    int rc = with_sums ? write_sums(m, out) : EK_OK;
    if (!rc)
        rc = write_answers(m, with_sums, out);
    return rc ? ek_fail(e, rc, "cannot write the evidence report") : EK_OK;
}

int ek_fleet_instance_report(struct ek_fleet_instance *m, int64_t stream_ms,
                             int (*write)(void *context, const void *bytes, size_t length),
                             void *context, struct ek_error *e)
{
    return write_report(m, stream_ms, true, &(struct output_writer){write, context}, e);
}

int ek_fleet_instance_report_early(struct ek_fleet_instance *m, int64_t stream_ms,
                                   int (*write)(void *context, const void *bytes, size_t length),
                                   void *context, struct ek_error *e)
{
    bool with_sums = m->found || !m->head.number;
    return write_report(m, stream_ms, with_sums, &(struct output_writer){write, context}, e);
}

int ek_fleet_instance_comparisons(struct ek_fleet_instance *m, const struct ek_comparisons *t,
                                  bool drifted,
                                  int (*write)(void *context, const void *bytes, size_t length),
                                  void *context, struct ek_error *e)
{
    int at = 0;
    if (!ek_comparisons_next(t, &at) || !m->head.number)
        return EK_OK;
    ek_buf_clear(&m->record);
    int rc = ek_fleet_comparisons_write(t, drifted, ek_detector_manifest(m->detector),
                                        ek_detector_registry(m->detector), &m->head, &m->record);
    if (!rc)
        rc = write(context, m->record.data, m->record.length);
    return rc ? ek_fail(e, rc, "shadow scoring results could not be sent to the fleet") : EK_OK;
}
