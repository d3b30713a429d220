/* evenkeel normalize: which transform fits each feature. */
#include "daemon/files/check.h"
#include "daemon/base/cli.h"
#include "daemon/base/cli_parse.h"
#include "daemon/tools/normalize/normalize.h"
#include "daemon/tools/normalize/normalize_judge.h"

#include "base/file.h"
#include "yaml/yaml.h"

#include <sys/stat.h>

/* Devices and pipes must not be opened twice: who reads a pipe would see its end. */
static bool can_be_tried(const char *path)
{
    struct stat s;
    return path && !ek_is_stdout(path) && (stat(path, &s) || S_ISREG(s.st_mode));
}

/* An output that cannot be written is told before the work. */
static int try_outputs(struct ek_normalize_args *a)
{
    const char *const path[] = {a->output, a->report, a->output_data, a->output_manifest};
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        struct ek_writer *w;
        if (!can_be_tried(path[i]))
            continue;
        int rc = ek_writer_open(&w, path[i], &a->e);
        if (rc)
            return rc;
        ek_writer_abandon(w);
    }
    return EK_OK;
}

/* Kept as text for --output. */
static int load(struct ek_normalize_args *a, struct ek_manifest **m)
{
    int rc = ek_file_read(a->manifest, &a->text, &a->e);
    if (!rc)
        rc = ek_manifest_parse(m, ek_is_stdout(a->manifest) ? "stdin" : a->manifest,
                               (const char *)a->text.data, a->text.length, &a->e);
    return rc ? ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e) : EK_OK;
}

static int write_results(struct ek_normalize_args *a, const struct ek_choices *c)
{
    int rc = EK_OK;
    if (a->output)
        rc = ek_normalize_write_manifest(c, a->manifest, &a->text, a->output, &a->e);
    if (!rc && a->report)
        rc = ek_normalize_report(c, a->report, &a->e);
    if (!rc && a->output_data)
        rc = ek_normalize_apply(c, a, &a->e);
    bool taken = ek_is_stdout(a->output) || ek_is_stdout(a->report) ||
                 ek_is_stdout(a->output_data) || ek_is_stdout(a->output_manifest);
    if (rc)
        return rc;
    if (a->json)
        return ek_normalize_print_json(c, stdout, &a->e);
    return ek_normalize_print(c, taken ? stderr : stdout, &a->e);
}

static int choose(struct ek_normalize_args *a, const struct ek_manifest *m,
                  const struct ek_profile *p, const struct ek_dataset *train,
                  const struct ek_dataset *vali)
{
    struct ek_choices c;
    int rc = ek_choices_make(&c, a, m, p, train, vali, &a->e);
    if (!rc)
        rc = write_results(a, &c);
    ek_choices_release(&c);
    return rc;
}

static int from_profile(struct ek_normalize_args *a, const struct ek_manifest *m)
{
    struct ek_profile *p;
    int rc = ek_profile_load(&p, a->profile, &a->e);
    if (rc)
        return ek_kind_explain(a->profile, EK_KIND_PROFILE, &a->e);
    rc = ek_profile_check(p, m, &a->e);
    if (rc)
        ek_error_place(&a->e, a->profile, 0, 0);
    else
        rc = choose(a, m, p, NULL, NULL);
    ek_profile_free(p);
    return rc;
}

static int from_lists(struct ek_normalize_args *a, const struct ek_manifest *m)
{
    struct ek_dataset train, vali;
    int rc = ek_normalize_read(&a->letor, m, &train, &a->e);
    ek_dataset_init(&vali, m->item_count, m->query_count);
    if (!rc && a->vali.count)
        rc = ek_normalize_read(&a->vali, m, &vali, &a->e);
    if (!rc)
        rc = choose(a, m, NULL, &train, a->vali.count ? &vali : NULL);
    ek_dataset_release(&train);
    ek_dataset_release(&vali);
    return rc;
}

static int run(struct ek_normalize_args *a, const struct ek_manifest *m)
{
    if (a->judge)
        return ek_normalize_judge(&a->letor, m, a->judge_methods, a->empty, a->json, &a->e);
    int rc =
        a->output_data && a->method == EK_METHOD_MERGE ? ek_normalize_check_merge(m, &a->e) : EK_OK;
    if (rc)
        return rc;
    return a->profile ? from_profile(a, m) : from_lists(a, m);
}

int ek_cmd_normalize(int argc, char **argv)
{
    struct ek_normalize_args a;
    ek_normalize_parse(&a, argc, argv);
    struct ek_manifest *m = NULL;
    ek_buf_init(&a.text, EK_YAML_BYTES_MAX);
    int rc = try_outputs(&a);
    if (!rc)
        rc = load(&a, &m);
    if (!rc)
        rc = run(&a, m);
    ek_manifest_free(m);
    ek_buf_release(&a.text);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
