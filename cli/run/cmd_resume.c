/* SPDX-License-Identifier: MIT */
/*
 * cmd_resume.c - `urlweir resume`: go on with a crawl.
 *
 * Takes the settings in DIR unless the command line gives new ones; prints what
 * differs from the last run, keeps it, and puts it in force
 * (job/settings_applied.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/control/control_place.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/run/cluster_worker.h"
#include "cli/run/crawl_run.h"
#include "cli/stop_signals.h"
#include "frontier/crawl/frontier_open.h"
#include "job/crawl_credentials.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_setup.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

static bool same_sitemaps(const struct crawl_settings *a,
                          const struct crawl_settings *b)
{
    size_t i = option_find(&crawl_options, bytes_of_str("sitemap-url"));

    return option_equal(&crawl_options.spec[i], a, b);
}

/* Are the settings in DIR still the ones read before the lock was taken?
 * Another process may have had the crawl in between. */
static bool are_still(const struct crawl_settings *before)
{
    struct crawl_settings s;
    struct buf error;
    bool same;

    settings_init(&s);
    buf_init(&error, 4096);
    same = settings_load(&s, before->output, &error) == STATUS_OK &&
           !settings_differ(&s, before);
    if (!same)
        fprintf(stderr,
                "urlweir resume: the settings in %s were changed just now; "
                "give the command again\n",
                before->output);
    buf_fini(&error);
    settings_fini(&s);
    return same;
}

static enum status keep(const struct crawl_settings *s)
{
    enum status st = STATUS_OK;

    if (!s->once)
        st = settings_save(s);
    if (st == STATUS_OK && !s->quiet)
        fprintf(stderr, "urlweir resume: %s%s%s\n",
                s->once ? "for this run only" : "kept in ",
                s->once ? "" : s->output, s->once ? "" : "/" SETTINGS_FILE);
    fault_point("settings-kept");
    return st;
}

/* The command line cannot change fixed settings, but a person may have edited
 * the file. */
static bool are_free(const struct crawl_settings *was,
                     const struct crawl_settings *s)
{
    const char *fixed = settings_fixed_change(was, s);

    if (fixed != NULL)
        fprintf(stderr,
                "urlweir resume: %s/" SETTINGS_FILE
                ": %s: it is fixed when a crawl starts, and is another there; "
                "undo that change and resume again%s\n",
                s->output, fixed,
                strcmp(fixed, "seeds") == 0 ? " (`urlweir seed` adds seeds)"
                                            : "");
    return fixed == NULL;
}

/* After a crash that follows the first step, the next resume does the others.
 */
static enum status change_settings(struct frontier *f, struct crawl_setup *c,
                                   const struct crawl_settings *s,
                                   const struct crawl_settings *before)
{
    struct crawl_settings was;
    bool known;
    enum status st = settings_applied(f, before, &was, &known);

    if (st != STATUS_OK)
        return st;
    if (!are_free(&was, s))
        st = STATUS_ARG;
    if (st == STATUS_OK)
        settings_diff(stderr, &was, s);
    if (st == STATUS_OK && settings_differ(before, s))
        st = keep(s);
    else if (st == STATUS_OK && !known)
        st = settings_save(before); /* under today's file name */
    if (st == STATUS_OK && !same_sitemaps(&was, s))
        st = seed_sink_sitemaps(f, c, s);
    if (st == STATUS_OK)
        st = settings_put_in_force(f, c, s);
    settings_fini(&was);
    return st;
}

/* --retry, as `urlweir retry` does it. */
static enum status retry_failed_urls(struct frontier *f, struct crawl_setup *c,
                                     const struct crawl_settings *s)
{
    struct crawls_call call = {.verb = CRAWLS_RETRY};
    struct held_crawl *held = NULL;
    uint64_t left;
    json_int_t queued;
    enum status st, closed;
    json_t *reasons;

    if (s->retry.count == 0)
        return STATUS_OK;
    st = held_crawl_start(&held, c, s, f);
    if (st != STATUS_OK)
        return st;
    reasons = json_array();
    for (size_t i = 0; i < s->retry.count; i++)
        json_array_append_new(reasons, json_string(s->retry.item[i]));
    call.in = json_pack("{s:o}", "reasons", reasons);
    st = held_crawl_perform(held, &call);
    queued = json_integer_value(json_object_get(call.out, "queued"));
    json_decref(call.in);
    json_decref(call.out);
    closed = held_crawl_close(held, &left);
    if (st == STATUS_OK && closed == STATUS_OK && !s->quiet)
        fprintf(stderr, "urlweir resume: %lld failed URL%s queued again\n",
                (long long)queued, queued == 1 ? "" : "s");
    return st != STATUS_OK ? st : closed;
}

static bool is_finished(struct frontier *f)
{
    struct frontier_counts s;

    frontier_get_counts(f, &s);
    return s.queued == 0 && s.dated == 0 && !s.rejudging;
}

/* The last run may have been killed before its last checkpoint, and opening the
 * crawl may have mended its filter, so this makes the files agree. */
static int already_finished(struct frontier *f, const char *dir)
{
    struct frontier_counts s;
    enum status st = frontier_checkpoint_now(f, "finished", true, clock_mono(),
                                             clock_wall_ms());

    if (st != STATUS_OK)
        fprintf(stderr, "urlweir resume: cannot write a checkpoint in %s: %s\n",
                dir, status_text(st));
    frontier_get_counts(f, &s);
    fprintf(stderr,
            "urlweir resume: the crawl in %s is finished: %llu URLs, %llu "
            "pages; nothing is left to fetch; `urlweir seed %s URL...` adds "
            "to it\n",
            dir, (unsigned long long)s.urls, (unsigned long long)s.pages, dir);
    if (s.failed > 0)
        fprintf(stderr,
                "urlweir resume: %llu failed: `urlweir export %s --what "
                "errors` shows why, `urlweir retry %s` queues them again\n",
                (unsigned long long)s.failed, dir, dir);
    return s.seeds_failed > 0 ? EXIT_SEEDS : EXIT_DONE;
}

static int run_controlled(struct crawl_setup *c, struct frontier *f,
                          const struct crawl_settings *s,
                          struct file_lock *lock)
{
    struct crawl_control *control = NULL;
    int code;

    if (!crawl_control_open(&control, "resume", s, lock, &code))
        return code;
    code = crawl_run(c, f, s, control);
    crawl_control_close(control);
    return code;
}

static int resume_in(const struct crawl_settings *s,
                     const struct crawl_settings *before, struct crawl_setup *c,
                     struct file_lock *lock)
{
    struct frontier *f = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    if (crawl_is_unbegun(s->output, "resume") || !are_still(before))
        return EXIT_CANNOT;
    if (!crawl_block_start(c, s, &code) ||
        !crawl_credentials_start(c, s, &code))
        return code;
    st = frontier_open(&f, s->output, &c->frontier, clock_mono(),
                       clock_wall_ms());
    if (st != STATUS_OK)
        return crawl_open_failed(st, s->output);
    st = change_settings(f, c, s, before);
    if (st == STATUS_OK)
        st = retry_failed_urls(f, c, s);
    if (st != STATUS_OK) {
        frontier_close(f);
        return st == STATUS_ARG ? EXIT_USAGE : crawl_open_failed(st, s->output);
    }
    if (is_finished(f)) {
        /* Mends what a crash after the last commit left of the WARC files. */
        st = crawl_archive_open(c, s);
        if (st == STATUS_OK)
            st = crawl_archive_close(c, s);
        code = st == STATUS_OK
                   ? crawl_run_lines(s, already_finished(f, s->output))
                   : crawl_open_failed(st, s->output);
    } else {
        c->fetch.rules.digest_key = frontier_get_digest_key(f);
        code = run_controlled(c, f, s, lock);
    }
    frontier_close(f);
    return code;
}

/* The settings of the crawl itself are those that the cluster has now. */
static int resume_worker(struct crawl_settings *s,
                         const struct crawl_settings *before)
{
    const char *foreign = cluster_settings_changed(before, s);

    if (foreign == NULL)
        return cluster_worker_run("resume", CLUSTER_RESUME, s);
    fprintf(stderr,
            "urlweir resume: --%s is a setting of all workers, and cannot "
            "change here; `urlweir set` changes it in the cluster\n",
            foreign);
    return EXIT_USAGE;
}

/* Does the first operand name a service that runs, or one crawl of it and no
 * option? With options that crawl is resumed by hand, as they change it. */
static bool is_served(int argc, char **argv)
{
    struct control_place place;
    struct buf why;
    bool served = false;

    if (argc < 2 || argv[1][0] == '-')
        return false;
    buf_init(&why, 4096);
    if (control_place_find(&place, argv[1], &why) == STATUS_OK) {
        served = place.kafka != NULL   ? false
                 : place.crawl != NULL ? place.service && argc == 2
                                       : place.service || place.dir == NULL;
        control_place_fini(&place);
    }
    buf_fini(&why);
    return served;
}

int cmd_resume(int argc, char **argv)
{
    struct crawl_settings s, before;
    struct crawl_setup c;
    struct file_lock *lock = NULL;
    int code = EXIT_DONE;

    if (is_served(argc, argv))
        return command_line_run(&resume_served_usage, argc, argv);
    if (!settings_of_resume(&s, &before, argc, argv, &code))
        return code;
    secret_args_hide(argc, argv, &s);
    stop_signals_block();
    if (s.cluster != NULL) {
        code = resume_worker(&s, &before);
        settings_fini(&before);
        settings_fini(&s);
        return code;
    }
    if (crawl_setup_init(&c, &s, &code) && confine_crawl("resume", &s, &code) &&
        crawl_lock(s.output, "resume", &lock, &code))
        code = resume_in(&s, &before, &c, lock);
    file_lock_free(lock);
    crawl_setup_fini(&c);
    settings_fini(&before);
    settings_fini(&s);
    return code;
}
