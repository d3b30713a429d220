#include "daemon/demo/demo_assets.h"

#include "daemon/base/clock.h"
#include "base/file.h"
#include "daemon/base/command.h"
#include "assets/profile.h"
#include "offline/world/hotel.h"
#include "offline/fit/profile_fit.h"
#include "offline/train/training.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TRAIN_LISTS = 12000,
    VALI_LISTS = 1500,
    PROFILE_LISTS = 20000, /* rare categories need many lists for evidence */
    EPOCHS = 12,
    TRAIN_MS_MAX = 20000 /* a slow machine uses the best model until then */
};

static const char RULES[] = "version: 1\n"
                            "defaults:\n"
                            "  mode: enforce\n"
                            "  stratify_by: market\n"
                            "  min_duration: 1s\n"
                            "segments: [arm]\n"
                            "features:\n"
                            "  price: {units: [cents, \"query_feature:stay_nights\"]}\n";

static const char *const FILES[] = {"features.yaml", "rules.yaml", "profile.ekp",
                                    "upstream.safetensors", "routable.safetensors"};

static char *path_of(struct ek_demo_assets *a, int file)
{
    char *const paths[] = {a->manifest_path, a->rules, a->profile, a->upstream, a->routable};
    return paths[file];
}

enum { FILE_COUNT = sizeof FILES / sizeof *FILES };

static int make_folder(struct ek_demo_assets *a, struct ek_error *e)
{
    const char *base = getenv("TMPDIR");
    int n = snprintf(a->folder, sizeof a->folder, "%s/evenkeel-demo-XXXXXX",
                     base && *base ? base : "/tmp");
    if (n > EK_DEMO_PATH - 40 || !mkdtemp(a->folder)) {
        a->folder[0] = 0;
        return ek_fail(e, EK_EIO, "cannot make a temporary folder in '%.200s'",
                       base && *base ? base : "/tmp");
    }
    for (int i = 0; i < FILE_COUNT; i++)
        snprintf(path_of(a, i), EK_DEMO_PATH, "%.460s/%s", a->folder, FILES[i]);
    return EK_OK;
}

void ek_demo_assets_remove(struct ek_demo_assets *a)
{
    ek_manifest_free(a->manifest);
    if (a->folder[0]) {
        for (int i = 0; i < FILE_COUNT; i++)
            unlink(path_of(a, i));
        rmdir(a->folder);
    }
    memset(a, 0, sizeof *a);
}

/* Lists for all parts: training, then validation. */
struct lists {
    struct ek_dataset train, vali;
};

static int generate(struct lists *l, uint64_t seed, struct ek_error *e)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    int rc = ek_hotel_new(&hotel, seed, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    for (uint64_t i = 0; i < TRAIN_LISTS + VALI_LISTS && !rc; i++) {
        rc = ek_hotel_list(hotel, i, &q, e);
        if (!rc)
            rc = ek_dataset_add(i < TRAIN_LISTS ? &l->train : &l->vali, &q, e);
    }
    ek_list_release(&q);
    ek_hotel_free(hotel);
    return rc;
}

static int fit(const struct ek_demo_assets *a, uint64_t seed, struct ek_error *e)
{
    struct ek_profile_fit *fit;
    struct ek_profile *profile;
    struct ek_hotel *hotel;
    struct ek_list q;
    int rc = ek_hotel_new(&hotel, seed, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    rc = ek_profile_fit_new(&fit, a->manifest, "market", e);
    if (!rc) {
        for (uint64_t i = 0; i < PROFILE_LISTS && !rc; i++) {
            rc = ek_hotel_list(hotel, i, &q, e);
            if (!rc)
                rc = ek_profile_fit_add(fit, &q, e);
        }
        if (!rc)
            rc = ek_profile_fit_finish(fit, &profile, e);
        if (!rc) {
            rc = ek_profile_save(profile, a->profile, e);
            ek_profile_free(profile);
        }
        ek_profile_fit_free(fit);
    }
    ek_list_release(&q);
    ek_hotel_free(hotel);
    return rc;
}

/* Training of one model. Only the routable one, in the caller's thread, shows progress. */
struct training {
    const struct ek_demo_assets *a;
    const struct lists *lists;
    bool plain;
    struct ek_demo_stop stop;
    struct ek_progress progress;
    double ndcg;
    int rc;
    struct ek_error e;
};

static int show(void *context, const struct ek_train_progress *p)
{
    struct training *t = context;
    char note[60];
    snprintf(note, sizeof note, "NDCG@10 %.4f", p->vali_ndcg10);
    if (!t->plain)
        ek_progress_update(&t->progress, p->step, p->steps, p->epoch > 1 ? note : NULL);
    bool late = p->epoch > 1 && ek_now_ms() - t->progress.started_ms > TRAIN_MS_MAX;
    return late || t->stop.is_canceled(t->stop.context);
}

static void *train(void *arg)
{
    struct training *t = arg;
    struct ek_train_options o;
    struct ek_train_progress last;
    struct ek_model *model;
    ek_train_defaults(&o);
    o.epochs = EPOCHS;
    o.progress = show;
    o.context = t;
    if (t->plain) {
        o.routing = EK_ROUTING_NONE;
        o.shape.log_input = EK_LOG_NONE;
        o.shape.mask_input = false;
    }
    t->rc = ek_train(&model, t->a->manifest, &t->lists->train, &t->lists->vali, &o, &last, &t->e);
    if (t->rc)
        return NULL;
    t->ndcg = last.best_ndcg10;
    t->rc = ek_model_save(model, t->plain ? t->a->upstream : t->a->routable, &t->e);
    ek_model_free(model);
    return NULL;
}

static int train_both(const struct ek_demo_assets *a, const struct lists *l,
                      struct ek_demo_stop stop, struct ek_error *e)
{
    struct training plain = {.a = a, .lists = l, .plain = true, .stop = stop};
    struct training routable = {.a = a, .lists = l, .stop = stop};
    pthread_t thread;
    char note[100];
    ek_progress_start(&routable.progress, "training two models");
    plain.progress = routable.progress;
    bool apart = pthread_create(&thread, NULL, train, &plain) == 0;
    train(&routable);
    if (apart)
        pthread_join(thread, NULL);
    else
        train(&plain);
    if (stop.is_canceled(stop.context))
        return ek_fail(e, EK_ESTATE, "interrupted");
    struct training *failed = plain.rc ? &plain : routable.rc ? &routable : NULL;
    if (failed) {
        *e = failed->e;
        return failed->rc;
    }
    snprintf(note, sizeof note, "validation NDCG@10 %.4f plain, %.4f routable", plain.ndcg,
             routable.ndcg);
    ek_progress_finish(&routable.progress, note);
    return EK_OK;
}

static int fill_folder(struct ek_demo_assets *a, uint64_t seed, struct ek_demo_stop stop,
                       struct ek_error *e)
{
    struct lists l;
    struct ek_progress progress;
    char note[100];
    int rc = ek_file_write(a->manifest_path, ek_hotel_manifest(), e);
    if (!rc)
        rc = ek_file_write(a->rules, RULES, e);
    if (!rc)
        rc = ek_manifest_load(&a->manifest, a->manifest_path, e);
    if (rc)
        return rc;
    ek_dataset_init(&l.train, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    ek_dataset_init(&l.vali, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    ek_progress_start(&progress, "generating hotel searches, fitting the profile");
    rc = generate(&l, seed, e);
    if (!rc)
        rc = fit(a, seed, e);
    if (!rc) {
        snprintf(note, sizeof note, "%d lists", PROFILE_LISTS);
        ek_progress_finish(&progress, note);
        rc = train_both(a, &l, stop, e);
    }
    ek_dataset_release(&l.train);
    ek_dataset_release(&l.vali);
    return rc;
}

int ek_demo_assets_make(struct ek_demo_assets *a, uint64_t seed, struct ek_demo_stop stop,
                        struct ek_error *e)
{
    memset(a, 0, sizeof *a);
    int rc = make_folder(a, e);
    if (!rc)
        rc = fill_folder(a, seed, stop, e);
    if (rc)
        ek_demo_assets_remove(a);
    return rc;
}
