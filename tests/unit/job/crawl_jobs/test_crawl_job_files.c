/* SPDX-License-Identifier: MIT */
/*
 * test_crawl_job_files.c - crawls from an operator's files: each file makes
 * one, and a changed file changes it.
 */
#include <stdio.h>

#include "job/settings/settings.h"
#include "tests/unit/job/crawl_jobs/crawl_job_rig.h"

static enum status add_file(const char *name, const char *yaml)
{
    struct buf text;
    enum status st;

    buf_init(&text, sizeof why - 1);
    if (yaml != NULL)
        ck_ok(file_replace(in_dir(name), bytes_of_str(yaml)));
    st = crawl_jobs_add_file(jobs, in_dir(name), &text);
    snprintf(why, sizeof why, "%s", buf_str(&text));
    buf_fini(&text);
    return st;
}

static void start_files(void)
{
    struct buf text;

    buf_init(&text, 4096);
    ck_assert_msg(crawl_jobs_start_files(jobs, crawls, &text) == STATUS_OK,
                  "%s", buf_str(&text));
    buf_fini(&text);
}

/* Restarts the service with news.yaml. */
static void restart_with(const char *yaml)
{
    struct crawl_factory factory;
    const struct crawl_jobs_options o = {.dir = dir, .quiet = true};
    char at[128];

    close_them();
    jobs = crawl_jobs_new(&o);
    ck_ok(add_file("news.yaml", yaml));
    factory = crawl_jobs_factory(jobs);
    snprintf(at, sizeof at, "%s/crawls", dir);
    ck_ok(crawls_open(&crawls, at, &factory));
    start_files();
}

#define YAML                                                                   \
    "allow-private: true\ntries: 1\nmin-disk: 0\nthreads: 1\nrobots: off\n"    \
    "sitemap: off\nseeds:\n  - " SEED "\n"

TIMEOUT(120);
FIXTURE(setup, teardown);

TEST(a_file_makes_a_crawl_of_its_name)
{
    ck_assert_int_eq(add_file("no good.yaml", YAML), STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(why, "would be named 'no good'"));
    ck_assert_int_eq(add_file("bad.yaml", "delay: x\n"), STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(why, "bad.yaml:1:8: delay"));
    ck_assert_int_eq(add_file("bad.yaml", "jsonl: \"-\"\n"), STATUS_ARG);
    ck_assert_int_eq(add_file("missing.yaml", NULL), STATUS_ARG);
    ck_ok(add_file("news.yaml", YAML));
    ck_assert_int_eq(add_file("news.yaml", NULL), STATUS_ARG);
    start_files();
    becomes("news", CRAWLS_WAITING);
    ck_assert_uint_eq(look("news").stats.counts.skipped, 1);
}

/* Promise (The service): no setting is accepted and ignored: one that a service
 * cannot use is refused with file, line and what to do, in files, over HTTP and
 * in the settings of a crawl. See also
 * `crawl_job_settings/bad_settings_are_refused_with_their_name`,
 * `crawl_job_files/a_settings_file_with_what_a_service_cannot_do_is_not_opened`,
 * `crawl_job_settings/a_crawl_gives_up_only_where_it_is_told_to`,
 * `tests/cli/serve-crawl.sh`. */
/* Options about one process and the person at its terminal; they include every
 * option that belongs to a run and not to its crawl. */
TEST(a_file_is_refused_for_what_a_service_cannot_do_with_its_place)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"output: x", "bad.yaml:2:9: output: "},
        {"quiet: false", "bad.yaml:2:8: quiet: "},
        {"verbose: true", "bad.yaml:2:10: verbose: "},
        {"progress: auto", "bad.yaml:2:11: progress: "},
        {"until-idle: true", "bad.yaml:2:13: until-idle: "},
        {"metrics: 127.0.0.1:0", "bad.yaml:2:10: metrics: "},
        {"metrics-open: true", "bad.yaml:2:15: metrics-open: "},
        {"sandbox: off", "bad.yaml:2:10: sandbox: "},
        {"decisions: true", "bad.yaml:2:12: decisions: "},
        {"user: nobody", "bad.yaml:2:7: user: "},
        {"config: x", "bad.yaml:2:1: 'config'"},
        {"input: \"-\"", "bad.yaml:2:8: input: a service has no standard"},
        {"jsonl: \"-\"", "bad.yaml:2:8: jsonl: a service has no standard"},
        {"max-delay: 1ms", "bad.yaml: --delay"},
    };
    char yaml[100];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(yaml, sizeof yaml, "delay: 1s\n%s\n", cases[i].line);
        ck_assert_int_eq(add_file("bad.yaml", yaml), STATUS_ARG);
        ck_assert_msg(strstr(why, cases[i].why) != NULL, "%s", why);
    }
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];
        bool found = (o->flags & OPTION_OF_RUN) == 0;

        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            found |= strncmp(cases[k].line, o->name, strlen(o->name)) == 0;
        ck_assert_msg(found, "%s is of a run and taken", o->name);
    }
}

TEST(a_settings_file_with_what_a_service_cannot_do_is_not_opened)
{
    FILE *f;

    create("a");
    becomes("a", CRAWLS_WAITING);
    close_them();
    f = fopen(in_dir("crawls/a/urlweir-settings.yaml"), "a");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs("metrics: 127.0.0.1:0\n", f), 0);
    ck_assert_int_eq(fclose(f), 0);
    open_them();
    becomes("a", CRAWLS_FAILED);
    ck_assert_ptr_nonnull(strstr(look("a").why, "/urlweir-settings.yaml:"));
    ck_assert_ptr_nonnull(strstr(look("a").why, ": metrics: "));
}

TEST(a_changed_file_changes_the_crawl_and_adds_its_seeds)
{
    restart_with(YAML "delay: 0\n");
    becomes("news", CRAWLS_WAITING);
    restart_with(YAML "  - " SEED "more\ndelay: 0\nuser-agent: new/1\n");
    becomes("news", CRAWLS_WAITING);
    ck_assert_uint_eq(look("news").stats.counts.skipped, 2);
    ck_assert_str_eq(json_string_value(setting("news", "user-agent")), "new/1");
}

TEST(a_changed_file_leaves_what_it_said_before_to_the_service)
{
    restart_with(YAML "delay: 1s\ndepth: 2\nexclude: [/a/]\n");
    does(CRAWLS_SET_SETTINGS, "news", "{'delay': '7s', 'exclude': ['/b/']}");
    restart_with(YAML "delay: 1s\ndepth: 3\nexclude: [/a/]\n");
    ck_assert_str_eq(json_string_value(setting("news", "delay")), "7s");
    ck_assert_int_eq(json_integer_value(setting("news", "depth")), 3);
    ck_assert_str_eq(json_string_value(
                         json_array_get(setting("news", "exclude"), 0)),
                     "/b/");
    restart_with(YAML "delay: 2s\ndepth: 3\nexclude: [/a/]\n");
    ck_assert_str_eq(json_string_value(setting("news", "delay")), "2s");
}
