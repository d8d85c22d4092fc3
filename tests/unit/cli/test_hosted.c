/* SPDX-License-Identifier: MIT */
/*
 * test_hosted.c - crawls of a service, through the calls that others make: the
 * registry (service/crawls.h) with its maker (cli/hosted.h). Their seeds stand
 * on a port where nobody listens, so that they fail at once.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/hosted.h"
#include "cli/settings.h"
#include "service/hub.h"

static char dir[64], path[256];
static struct hosted *hosted;
static struct crawls *crawls;
static char why[512];
static json_t *answer;

static const char *in_dir(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void make_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-hosted-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void open_them(void)
{
    const struct hosted_options o = {.dir = dir, .quiet = true};
    struct crawls_maker maker;
    char at[128];

    hosted = hosted_new(&o);
    maker = hosted_maker(hosted);
    snprintf(at, sizeof at, "%s/crawls", dir);
    ck_assert_int_eq(crawls_open(&crawls, at, &maker), STATUS_OK);
}

static void close_them(void)
{
    ck_assert_int_eq(crawls_close(crawls), STATUS_OK);
    hosted_free(hosted);
    json_decref(answer);
    answer = NULL;
}

static void setup(void)
{
    make_dir();
    open_them();
}

static void teardown(void)
{
    close_them();
    ck_assert_int_eq(file_remove_tree(dir), STATUS_OK);
}

static void restart(void)
{
    close_them();
    open_them();
}

/* ---- calls ---- */

/* `text`: JSON with ' for ", or NULL; *c has the answer. */
static void perform(struct crawls_call *c, enum crawls_verb verb,
                    const char *name, const char *text)
{
    char *json = strdup(text != NULL ? text : "null");

    *c = (struct crawls_call){.verb = verb, .crawl = bytes_of_str(name)};
    for (char *p = json; *p != '\0'; p++)
        *p = *p == '\'' ? '"' : *p;
    c->in = json_loads(json, JSON_DECODE_ANY, NULL);
    ck_assert_msg(c->in != NULL, "%s", json);
    free(json);
    ck_assert_int_eq(crawls_perform(crawls, c), c->status);
    json_decref(c->in);
}

/* The answer is in `answer`, `why`. */
static enum status call(enum crawls_verb verb, const char *name,
                        const char *text)
{
    struct crawls_call c;

    perform(&c, verb, name, text);
    json_decref(answer);
    answer = c.out;
    snprintf(why, sizeof why, "%s", c.why);
    return c.status;
}

static void does(enum crawls_verb verb, const char *name, const char *text)
{
    enum status st = call(verb, name, text);

    ck_assert_msg(st == STATUS_OK, "%s: %s", status_text(st), why);
}

static void refuses(enum status st, const char *because, enum crawls_verb verb,
                    const char *name, const char *text)
{
    enum status got = call(verb, name, text);

    ck_assert_msg(got == st, "%s instead of %s: %s", status_text(got),
                  status_text(st), why);
    ck_assert_msg(strstr(why, because) != NULL, "%s", why);
}

#define SEED "http://127.0.0.1:1/"
#define QUICK                                                                  \
    "'allow-private': true, 'tries': 1, 'delay': 0, 'min-disk': 0, "           \
    "'threads': "                                                              \
    "1, 'robots': 'off', 'sitemap': 'off'"

static void create(const char *name)
{
    does(CRAWLS_CREATE, name,
         "{'seeds': ['" SEED "'], 'settings': {" QUICK "}}");
}

static struct crawls_view look(const char *name)
{
    struct crawls_view v;

    ck_assert_int_eq(crawls_look(crawls, bytes_of_str(name), &v), STATUS_OK);
    return v;
}

static void becomes(const char *name, enum crawls_state s)
{
    int64_t until = clock_mono() + 100 * NS_PER_S;
    struct crawls_view v = look(name);

    while (v.state != s) {
        ck_assert_msg(clock_mono() < until, "%s: %s, not %s", name,
                      crawls_state_name(v.state), crawls_state_name(s));
        usleep(5000);
        v = look(name);
    }
}

static const char *result(size_t i, const char *field)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(answer, "results"), i),
                        field));
}

/* ---- life ---- */

START_TEST(names_are_those_of_files)
{
    ck_assert(crawls_name_is_valid(bytes_of_str("a-B_1.x")));
    ck_assert(!crawls_name_is_valid(bytes_of_str("")));
    ck_assert(!crawls_name_is_valid(bytes_of_str(".a")));
    ck_assert(!crawls_name_is_valid(bytes_of_str("a/b")));
    ck_assert(!crawls_name_is_valid(bytes_of_str("a b")));
    refuses(STATUS_ARG, "a name", CRAWLS_CREATE, "..", "{}");
}
END_TEST

/* Why URLs failed is told once a second. */
static const char *failed_most_by(const char *name)
{
    static struct crawls_view v;
    int64_t until = clock_mono() + 100 * NS_PER_S;

    for (v = look(name); v.sample.watch.failure_count == 0; v = look(name)) {
        ck_assert_msg(clock_mono() < until, "%s: nothing failed", name);
        usleep(5000);
    }
    return v.sample.watch.failures[0].why;
}

START_TEST(a_crawl_is_made_waits_and_goes_on_with_seeds)
{
    create("a");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").sample.stats.failed, 1);
    ck_assert_str_eq(failed_most_by("a"), "connect");
    does(CRAWLS_SEED, "a",
         "{'urls': ['" SEED "x', '" SEED "', 'mailto:x', '" SEED "x#y']}");
    ck_assert_str_eq(result(0, "status"), "ok");
    ck_assert_str_eq(result(1, "status"), "skipped");
    ck_assert_str_eq(result(2, "status"), "failed");
    ck_assert_str_eq(result(2, "reason"), "only http and https are crawled");
    ck_assert_str_eq(result(3, "status"), "skipped");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").sample.stats.failed, 2);
    refuses(STATUS_EXISTS, "of this name", CRAWLS_CREATE, "a", "{}");
    refuses(STATUS_NOT_FOUND, "no such crawl", CRAWLS_PAUSE, "b", NULL);
}
END_TEST

START_TEST(it_may_begin_with_nothing)
{
    does(CRAWLS_CREATE, "a", "{'settings': {" QUICK "}}");
    becomes("a", CRAWLS_WAITING);
    does(CRAWLS_SEED, "a", "{'urls': ['" SEED "']}");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").sample.stats.failed, 1);
}
END_TEST

START_TEST(several_run_side_by_side)
{
    struct crawls_view *all;

    create("b");
    create("a");
    create("a.2");
    ck_assert_uint_eq(crawls_each(crawls, &all), 3);
    ck_assert_str_eq(all[0].name, "a");
    ck_assert_str_eq(all[1].name, "a.2");
    ck_assert_str_eq(all[2].name, "b");
    free(all);
    becomes("a", CRAWLS_WAITING);
    becomes("b", CRAWLS_WAITING);
    becomes("a.2", CRAWLS_WAITING);
}
END_TEST

START_TEST(paused_it_leases_nothing_and_stays_so_over_a_restart)
{
    create("a");
    becomes("a", CRAWLS_WAITING);
    does(CRAWLS_PAUSE, "a", NULL);
    does(CRAWLS_SEED, "a", "{'urls': ['" SEED "x']}");
    becomes("a", CRAWLS_PAUSED);
    restart();
    becomes("a", CRAWLS_PAUSED);
    usleep(300000);
    ck_assert_uint_eq(look("a").sample.stats.queued, 1);
    ck_assert_uint_eq(look("a").sample.requests, 0);
    does(CRAWLS_UNPAUSE, "a", NULL);
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").sample.stats.failed, 2);
    restart();
    becomes("a", CRAWLS_WAITING);
}
END_TEST

START_TEST(stopped_it_lets_its_directory_go_and_stays_so_over_a_restart)
{
    long holder = -1;

    create("a");
    ck_assert_int_eq(file_lock_holder(in_dir("crawls/a/lock"), &holder),
                     STATUS_OK);
    ck_assert_int_eq(holder, getpid());
    does(CRAWLS_STOP, "a", NULL);
    ck_assert_int_eq(look("a").state, CRAWLS_STOPPED);
    ck_assert_int_eq(look("a").end, CRAWL_INTERRUPTED);
    ck_assert_int_eq(file_lock_holder(in_dir("crawls/a/lock"), &holder),
                     STATUS_OK);
    ck_assert_int_eq(holder, 0);
    refuses(STATUS_CLOSED, "resume it", CRAWLS_PAUSE, "a", NULL);
    refuses(STATUS_CLOSED, "resume it", CRAWLS_SEED, "a", "{'urls': []}");
    restart();
    ck_assert_int_eq(look("a").state, CRAWLS_STOPPED);
    ck_assert_uint_eq(look("a").sample.stats.urls, 1);
    does(CRAWLS_STOP, "a", NULL);
    does(CRAWLS_RESUME, "a", NULL);
    becomes("a", CRAWLS_WAITING);
    refuses(STATUS_BUSY, "the crawl is waiting", CRAWLS_RESUME, "a", NULL);
}
END_TEST

START_TEST(deleted_it_is_gone_with_its_directory)
{
    create("a");
    create("b");
    does(CRAWLS_STOP, "b", NULL);
    does(CRAWLS_DELETE, "a", NULL);
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "deleted")), 1);
    does(CRAWLS_DELETE, "b", NULL);
    ck_assert(!crawls_has(crawls, bytes_of_str("a")));
    ck_assert_int_ne(access(in_dir("crawls/a"), F_OK), 0);
    ck_assert_int_ne(access(in_dir("crawls/b"), F_OK), 0);
    refuses(STATUS_NOT_FOUND, "no such crawl", CRAWLS_DELETE, "a", NULL);
    create("a");
    becomes("a", CRAWLS_WAITING);
}
END_TEST

struct deleting {
    pthread_mutex_t mtx;
    pthread_cond_t cond;
    bool done;
    enum status status;
    uint64_t gone;
};

static void was_deleted(struct frontier_call *call)
{
    struct deleting *d = call->ctx;

    pthread_mutex_lock(&d->mtx);
    d->status = call->status;
    d->gone = call->number;
    d->done = true;
    pthread_cond_signal(&d->cond);
    pthread_mutex_unlock(&d->mtx);
}

/* By the frontier's API, as other programs do. */
static enum status delete_by_api(struct hub *hub, const char *name,
                                 uint64_t *gone)
{
    struct deleting d = {.done = false};
    struct frontier_call c;

    pthread_mutex_init(&d.mtx, NULL);
    pthread_cond_init(&d.cond, NULL);
    frontier_call_init(&c, FRONTIER_DELETE_CRAWL, was_deleted, &d);
    c.in.crawl = bytes_of_str(name);
    ck_assert_int_eq(hub_submit(hub, &c), STATUS_OK);
    pthread_mutex_lock(&d.mtx);
    while (!d.done)
        pthread_cond_wait(&d.cond, &d.mtx);
    pthread_mutex_unlock(&d.mtx);
    *gone = d.gone;
    frontier_call_fini(&c);
    return d.status;
}

START_TEST(deleted_by_the_frontiers_api_it_is_gone_in_the_same_way)
{
    struct hub *hub = hub_new(NULL, crawls);
    uint64_t gone;

    create("a");
    create("b");
    does(CRAWLS_STOP, "b", NULL);
    ck_assert_int_eq(delete_by_api(hub, "never", &gone), STATUS_OK);
    ck_assert_uint_eq(gone, 0);
    ck_assert_int_eq(delete_by_api(hub, "a", &gone), STATUS_OK);
    ck_assert_uint_eq(gone, 1);
    ck_assert_int_eq(delete_by_api(hub, "b", &gone), STATUS_OK);
    ck_assert_uint_eq(gone, 1);
    ck_assert(!crawls_has(crawls, bytes_of_str("a")));
    ck_assert_int_ne(access(in_dir("crawls/a"), F_OK), 0);
    ck_assert_int_ne(access(in_dir("crawls/b"), F_OK), 0);
    ck_assert_int_eq(delete_by_api(hub, "a", &gone), STATUS_OK);
    ck_assert_uint_eq(gone, 0);
    hub_free(hub);
}
END_TEST

START_TEST(what_a_crash_left_of_a_deletion_is_removed)
{
    char from[128], to[128];

    create("a");
    close_them();
    snprintf(from, sizeof from, "%s/crawls/a", dir);
    snprintf(to, sizeof to, "%s/crawls/.a.gone", dir);
    ck_assert_int_eq(rename(from, to), 0);
    open_them();
    ck_assert(!crawls_has(crawls, bytes_of_str("a")));
    ck_assert_int_ne(access(in_dir("crawls/.a.gone"), F_OK), 0);
}
END_TEST

START_TEST(a_limit_stops_it_and_a_higher_one_lets_it_go_on)
{
    does(CRAWLS_CREATE, "a",
         "{'seeds': ['" SEED "'], 'settings': {" QUICK ", 'time': '1ms'}}");
    becomes("a", CRAWLS_STOPPED);
    ck_assert_int_eq(look("a").end, CRAWL_TIME);
    does(CRAWLS_SET_SETTINGS, "a", "{'time': 'none'}");
    does(CRAWLS_RESUME, "a", NULL);
    becomes("a", CRAWLS_WAITING);
}
END_TEST

START_TEST(one_that_is_damaged_stops_alone)
{
    create("a");
    create("b");
    close_them();
    ck_assert_int_eq(file_replace(in_dir("crawls/a/frontier.db"),
                                  bytes_of_str("no database")),
                     STATUS_OK);
    open_them();
    ck_assert_int_eq(look("a").state, CRAWLS_FAILED);
    ck_assert_str_ne(look("a").why, "");
    becomes("b", CRAWLS_WAITING);
    does(CRAWLS_DELETE, "a", NULL);
}
END_TEST

START_TEST(a_directory_in_use_by_another_is_left_alone)
{
    struct file_lock *lock = NULL;
    pid_t other;
    int ready[2];
    char c;

    create("a");
    does(CRAWLS_STOP, "a", NULL);
    ck_assert_int_eq(pipe(ready), 0);
    other = fork();
    if (other == 0) {
        if (file_lock_take(&lock, in_dir("crawls/a/lock"), "resume", NULL) ==
            STATUS_OK)
            (void)!write(ready[1], "x", 1);
        pause();
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    refuses(STATUS_BUSY, "in use by process", CRAWLS_RESUME, "a", NULL);
    ck_assert_int_eq(look("a").state, CRAWLS_STOPPED);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    restart();
    ck_assert_int_eq(look("a").state, CRAWLS_STOPPED);
    does(CRAWLS_RESUME, "a", NULL);
}
END_TEST

/* ---- settings ---- */

static const json_t *setting(const char *crawl, const char *name)
{
    does(CRAWLS_SETTINGS, crawl, NULL);
    return json_object_get(json_object_get(answer, "settings"), name);
}

START_TEST(settings_go_in_and_out_as_json)
{
    does(CRAWLS_CREATE, "a",
         "{'settings': {'delay': '1500ms', 'depth': 3, 'exclude': ['/x', "
         "'/y,z'], 'fpr': 0.01, 'cookie': 'secret=1', 'limit': 'none', "
         "'allow-private': true, 'min-disk': 0}}");
    ck_assert_str_eq(json_string_value(setting("a", "delay")), "1500ms");
    ck_assert_int_eq(json_integer_value(setting("a", "depth")), 3);
    ck_assert_str_eq(json_string_value(
                         json_array_get(setting("a", "exclude"), 1)),
                     "/y,z");
    ck_assert_str_eq(json_string_value(setting("a", "limit")), "none");
    ck_assert(json_is_true(setting("a", "allow-private")));
    ck_assert_str_eq(json_string_value(setting("a", "memory")), "256M");
    ck_assert_str_eq(json_string_value(setting("a", "give-up")), "none");
    ck_assert_ptr_null(setting("a", "cookie"));
    ck_assert_ptr_null(setting("a", "output"));
}
END_TEST

START_TEST(bad_settings_are_refused_with_their_name)
{
    static const struct {
        const char *in, *why;
    } cases[] = {
        {"{'delay': 'soon'}", "delay: "},
        {"{'dealy': '1s'}", "did you mean delay?"},
        {"{'delay': ['1s']}", "delay: it takes one value"},
        {"{'delay': {}}", "delay: a setting is"},
        {"{'exclude': '('}", "--exclude '('"},
        {"{'delay': '60s', 'max-delay': '1s'}", "--max-delay"},
        {"{'output': 'x'}", "output: it is no setting"},
        {"{'config': 'x'}", "config: it is no setting"},
        {"{'quiet': true}", "quiet: it is no setting"},
        {"{'verbose': false}", "verbose: it is no setting"},
        {"{'progress': 'none'}", "progress: it is no setting"},
        {"{'metrics': '127.0.0.1:0'}", "metrics: it is no setting"},
        {"{'metrics-open': true}", "metrics-open: it is no setting"},
        {"{'seeds': []}", "seeds: seeds are given beside"},
        {"{'input': '-'}", "input: a service has no standard input"},
        {"{'input': '/etc/passwd'}", "input: a path is relative"},
        {"{'input': '../x'}", "input: it is no path inside"},
        {"{'input': 'crawls/../../x'}", "input: it is no path inside"},
        {"{'input': 'none'}", "input: there is no such file"},
        {"{'input': 'out'}", "input: it is no plain file"},
        {"{'input': 'link/x'}", "input: there is no such directory"},
        {"{'input': 'crawls'}", "input: it is no plain file"},
        {"{'jsonl': 'frontier.db'}", "jsonl: its name must end in .jsonl"},
        {"{'jsonl': '-'}", "jsonl: a service has no standard output"},
        {"{'block-filter': '/x'}", "block-filter: a path is relative"},
        {"[]", "settings are an object"},
    };
    char text[256];

    ck_assert_int_eq(symlink("/etc/passwd", in_dir("out")), 0);
    ck_assert_int_eq(symlink("/tmp", in_dir("link")), 0);
    does(CRAWLS_CREATE, "there", "{'settings': {" QUICK "}}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{'settings': %s}", cases[i].in);
        refuses(STATUS_ARG, cases[i].why, CRAWLS_CREATE, "a", text);
        ck_assert_int_ne(access(in_dir("crawls/a"), F_OK), 0);
        refuses(STATUS_ARG, cases[i].why, CRAWLS_SET_SETTINGS, "there",
                cases[i].in);
    }
    refuses(STATUS_ARG, "seeds[1]", CRAWLS_CREATE, "a",
            "{'seeds': ['" SEED "', 'x']}");
}
END_TEST

START_TEST(files_of_clients_are_inside_the_service)
{
    uint64_t size = 0;

    ck_assert_int_eq(file_replace(in_dir("seeds.txt"), bytes_of_str(SEED "\n")),
                     STATUS_OK);
    does(CRAWLS_CREATE, "a",
         "{'settings': {'input': 'seeds.txt', 'jsonl': 'a.jsonl', " QUICK "}}");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").sample.stats.failed, 1);
    does(CRAWLS_STOP, "a", NULL);
    ck_assert_int_eq(file_size(in_dir("a.jsonl"), &size), STATUS_OK);
    ck_assert_uint_gt(size, 0);
}
END_TEST

/* Of the setting `name`, as the last change told it. */
static const char *changed(const char *name, const char *when)
{
    const json_t *c;
    size_t i;

    json_array_foreach(json_object_get(answer, "changed"), i, c)
    {
        if (strcmp(json_string_value(json_object_get(c, "name")), name) == 0)
            return json_string_value(json_object_get(c, when));
    }
    return NULL;
}

START_TEST(rate_scope_and_limits_change_while_it_runs_and_are_kept)
{
    create("a");
    becomes("a", CRAWLS_WAITING);
    does(CRAWLS_SET_SETTINGS, "a",
         "{'delay': '90s', 'exclude': ['/no/'], 'scope': 'any', 'limit': "
         "1000, 'limit-rate': '1M'}");
    /* 90s lifts the most a delay grows to, which nobody had set. */
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "changed")), 6);
    ck_assert_str_eq(changed("scope", "before"), "host");
    ck_assert_str_eq(changed("scope", "after"), "any");
    does(CRAWLS_SET_SETTINGS, "a", "{'delay': '90s'}");
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "changed")), 0);
    does(CRAWLS_SET_SETTINGS, "a", "{'delay': '0'}");
    does(CRAWLS_SEED, "a",
         "{'urls': ['http://127.0.0.2:1/no/1', 'http://127.0.0.3:1/yes']}");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").sample.stats.skipped, 1);
    ck_assert_uint_eq(look("a").sample.stats.failed, 2);
    restart();
    becomes("a", CRAWLS_WAITING);
    ck_assert_str_eq(json_string_value(setting("a", "scope")), "any");
    does(CRAWLS_SEED, "a", "{'urls': ['http://127.0.0.4:1/no/2']}");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").sample.stats.skipped, 2);
}
END_TEST

/* Its host fails, and is tried again in an hour. */
#define PATIENT "'retry-delay': '1h', 'max-delay': '2h', 'delay': 0, 'tries': 3"

START_TEST(a_crawl_gives_up_only_where_it_is_told_to)
{
    does(CRAWLS_CREATE, "told",
         "{'seeds': ['" SEED "'], 'settings': {'allow-private': true, "
         "'min-disk': 0, 'threads': 1, 'robots': 'off', 'sitemap': 'off', "
         "'give-up': '1m', " PATIENT "}}");
    becomes("told", CRAWLS_STOPPED);
    ck_assert_int_eq(look("told").end, CRAWL_GAVE_UP);
    does(CRAWLS_CREATE, "untold",
         "{'seeds': ['" SEED "'], 'settings': {'allow-private': true, "
         "'min-disk': 0, 'threads': 1, 'robots': 'off', 'sitemap': "
         "'off', " PATIENT "}}");
    while (look("untold").sample.requests == 0)
        usleep(10000);
    usleep(300000);
    ck_assert_int_eq(look("untold").state, CRAWLS_RUNNING);
    does(CRAWLS_SET_SETTINGS, "untold", "{'give-up': '1m'}");
    becomes("untold", CRAWLS_STOPPED);
    ck_assert_int_eq(look("untold").end, CRAWL_GAVE_UP);
}
END_TEST

START_TEST(other_settings_change_when_it_is_stopped)
{
    create("a");
    refuses(STATUS_BUSY, "user-agent: it cannot change while",
            CRAWLS_SET_SETTINGS, "a", "{'user-agent': 'me/1'}");
    does(CRAWLS_STOP, "a", NULL);
    does(CRAWLS_SET_SETTINGS, "a", "{'user-agent': 'me/1'}");
    refuses(STATUS_ARG, "queue-key: it is fixed", CRAWLS_SET_SETTINGS, "a",
            "{'queue-key': 'domain'}");
    does(CRAWLS_RESUME, "a", NULL);
    ck_assert_str_eq(json_string_value(setting("a", "user-agent")), "me/1");
}
END_TEST

/* ---- files of the operator ---- */

static enum status add_file(const char *name, const char *yaml)
{
    struct buf text;
    enum status st;

    buf_init(&text, sizeof why - 1);
    if (yaml != NULL)
        ck_assert_int_eq(file_replace(in_dir(name), bytes_of_str(yaml)),
                         STATUS_OK);
    st = hosted_add_file(hosted, in_dir(name), &text);
    snprintf(why, sizeof why, "%s", buf_str(&text));
    buf_fini(&text);
    return st;
}

static void start_files(void)
{
    struct buf text;

    buf_init(&text, 4096);
    ck_assert_msg(hosted_start_files(hosted, crawls, &text) == STATUS_OK, "%s",
                  buf_str(&text));
    buf_fini(&text);
}

/* A restart with news.yaml. */
static void restart_with(const char *yaml)
{
    struct crawls_maker maker;
    const struct hosted_options o = {.dir = dir, .quiet = true};
    char at[128];

    close_them();
    hosted = hosted_new(&o);
    ck_assert_int_eq(add_file("news.yaml", yaml), STATUS_OK);
    maker = hosted_maker(hosted);
    snprintf(at, sizeof at, "%s/crawls", dir);
    ck_assert_int_eq(crawls_open(&crawls, at, &maker), STATUS_OK);
    start_files();
}

#define YAML                                                                   \
    "allow-private: true\ntries: 1\nmin-disk: 0\nthreads: 1\nrobots: off\n"    \
    "sitemap: off\nseeds:\n  - " SEED "\n"

START_TEST(a_file_makes_a_crawl_of_its_name)
{
    ck_assert_int_eq(add_file("no good.yaml", YAML), STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(why, "would be named 'no good'"));
    ck_assert_int_eq(add_file("bad.yaml", "delay: x\n"), STATUS_ARG);
    ck_assert_ptr_nonnull(strstr(why, "bad.yaml:1:8: delay"));
    ck_assert_int_eq(add_file("bad.yaml", "jsonl: \"-\"\n"), STATUS_ARG);
    ck_assert_int_eq(add_file("missing.yaml", NULL), STATUS_ARG);
    ck_assert_int_eq(add_file("news.yaml", YAML), STATUS_OK);
    ck_assert_int_eq(add_file("news.yaml", NULL), STATUS_ARG);
    start_files();
    becomes("news", CRAWLS_WAITING);
    ck_assert_uint_eq(look("news").sample.stats.failed, 1);
}
END_TEST

/* What speaks of one process and the person before it; each option that is of
 * a run and not of its crawl is among them. */
START_TEST(a_file_is_refused_for_what_a_service_cannot_do_with_its_place)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"output: x", "bad.yaml:2:9: output: "},
        {"quiet: false", "bad.yaml:2:8: quiet: "},
        {"verbose: true", "bad.yaml:2:10: verbose: "},
        {"progress: auto", "bad.yaml:2:11: progress: "},
        {"metrics: 127.0.0.1:0", "bad.yaml:2:10: metrics: "},
        {"metrics-open: true", "bad.yaml:2:15: metrics-open: "},
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
END_TEST

START_TEST(a_crawl_yaml_with_what_a_service_cannot_do_is_not_opened)
{
    FILE *f;

    create("a");
    becomes("a", CRAWLS_WAITING);
    close_them();
    f = fopen(in_dir("crawls/a/crawl.yaml"), "a");
    ck_assert_ptr_nonnull(f);
    ck_assert_int_ge(fputs("metrics: 127.0.0.1:0\n", f), 0);
    ck_assert_int_eq(fclose(f), 0);
    open_them();
    becomes("a", CRAWLS_FAILED);
    ck_assert_ptr_nonnull(strstr(look("a").why, "/crawl.yaml:"));
    ck_assert_ptr_nonnull(strstr(look("a").why, ": metrics: "));
}
END_TEST

START_TEST(a_changed_file_changes_the_crawl_and_adds_its_seeds)
{
    restart_with(YAML "delay: 0\n");
    becomes("news", CRAWLS_WAITING);
    restart_with(YAML "  - " SEED "more\ndelay: 0\nuser-agent: new/1\n");
    becomes("news", CRAWLS_WAITING);
    ck_assert_uint_eq(look("news").sample.stats.failed, 2);
    ck_assert_str_eq(json_string_value(setting("news", "user-agent")), "new/1");
}
END_TEST

START_TEST(what_was_changed_through_the_service_outlives_an_unchanged_file)
{
    restart_with(YAML "delay: 0\n");
    does(CRAWLS_SET_SETTINGS, "news", "{'delay': '7s'}");
    restart_with(YAML "delay: 0\n");
    ck_assert_str_eq(json_string_value(setting("news", "delay")), "7s");
    restart_with(YAML "delay: 2s\n");
    ck_assert_str_eq(json_string_value(setting("news", "delay")), "2s");
}
END_TEST

/* ---- what is seen ---- */

START_TEST(hosts_and_recent_answers_are_told)
{
    const json_t *host, *recent;

    create("a");
    becomes("a", CRAWLS_WAITING);
    does(CRAWLS_RECENT, "a", "{}");
    recent = json_array_get(json_object_get(answer, "recent"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(recent, "url")), SEED);
    ck_assert_str_eq(json_string_value(json_object_get(recent, "status")),
                     "failed");
    ck_assert_str_eq(json_string_value(json_object_get(recent, "reason")),
                     "connect");
    does(CRAWLS_PAUSE, "a", NULL);
    does(CRAWLS_SEED, "a",
         "{'urls': ['http://127.0.0.2:1/', 'http://127.0.0.2:1/2', "
         "'http://127.0.0.3:1/']}");
    does(CRAWLS_HOSTS, "a", "{'sort': 'biggest', 'size': '1'}");
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "hosts")), 1);
    host = json_array_get(json_object_get(answer, "hosts"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(host, "host")),
                     "127.0.0.2");
    ck_assert_int_ge(json_integer_value(json_object_get(host, "queued")), 2);
    ck_assert_str_eq(json_string_value(json_object_get(host, "state")),
                     "ready");
    does(CRAWLS_HOSTS, "a", "{'sort': 'blocked'}");
    does(CRAWLS_HOSTS, "a", "{'sort': 'slowest'}");
    refuses(STATUS_ARG, "sort: ", CRAWLS_HOSTS, "a", "{'sort': 'x'}");
    refuses(STATUS_ARG, "size: ", CRAWLS_HOSTS, "a", "{'size': 0}");
    refuses(STATUS_ARG, "size: ", CRAWLS_RECENT, "a", "{'size': 201}");
}
END_TEST

static enum status count_up(struct crawl *c, void *ctx)
{
    ++*(int *)ctx;
    return c != NULL ? STATUS_OK : STATUS_ARG;
}

START_TEST(others_use_a_crawl_only_while_it_is_open)
{
    int n = 0;

    create("a");
    ck_assert_int_eq(crawls_use(crawls, bytes_of_str("a"), count_up, &n),
                     STATUS_OK);
    ck_assert_int_eq(crawls_use(crawls, bytes_of_str("b"), count_up, &n),
                     STATUS_NOT_FOUND);
    does(CRAWLS_STOP, "a", NULL);
    ck_assert_int_eq(crawls_use(crawls, bytes_of_str("a"), count_up, &n),
                     STATUS_CLOSED);
    ck_assert_int_eq(n, 1);
}
END_TEST

static enum status perform_alone(enum crawls_verb verb, const char *name,
                                 const char *text)
{
    struct crawls_call c;

    perform(&c, verb, name, text);
    json_decref(c.out);
    return c.status;
}

/* A caller with crawls of his own names. */
static void *live(void *arg)
{
    const char *name = arg;

    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(perform_alone(CRAWLS_CREATE, name,
                                       "{'seeds': ['" SEED
                                       "'], 'settings': {" QUICK "}}"),
                         STATUS_OK);
        for (int k = 0; k < 5; k++) {
            char seeds[64];

            snprintf(seeds, sizeof seeds, "{'urls': ['" SEED "%d']}", k);
            ck_assert_int_eq(perform_alone(CRAWLS_SEED, name, seeds),
                             STATUS_OK);
            ck_assert_int_eq(perform_alone(CRAWLS_PAUSE, name, NULL),
                             STATUS_OK);
            ck_assert_int_eq(perform_alone(CRAWLS_HOSTS, name, "{}"),
                             STATUS_OK);
            ck_assert_int_eq(perform_alone(CRAWLS_SET_SETTINGS, name,
                                           k % 2 == 0 ? "{'scope': 'any'}"
                                                      : "{'scope': 'host'}"),
                             STATUS_OK);
            ck_assert_int_eq(perform_alone(CRAWLS_UNPAUSE, name, NULL),
                             STATUS_OK);
        }
        ck_assert_int_eq(perform_alone(CRAWLS_STOP, name, NULL), STATUS_OK);
        ck_assert_int_eq(perform_alone(CRAWLS_RESUME, name, NULL), STATUS_OK);
        ck_assert_int_eq(perform_alone(CRAWLS_DELETE, name, NULL), STATUS_OK);
    }
    return NULL;
}

static atomic_bool watching;

static void *watch(void *arg)
{
    int n = 0;

    (void)arg;
    while (atomic_load(&watching)) {
        struct crawls_view *all;

        (void)crawls_each(crawls, &all);
        free(all);
        (void)!crawls_use(crawls, bytes_of_str("a"), count_up, &n);
        usleep(1000);
    }
    return NULL;
}

START_TEST(callers_and_watchers_do_not_get_in_each_others_way)
{
    static const char *const names[] = {"a", "b", "c"};
    pthread_t callers[3], watcher;

    atomic_store(&watching, true);
    ck_assert_int_eq(pthread_create(&watcher, NULL, watch, NULL), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&callers[i], NULL, live,
                                        (void *)names[i]),
                         0);
    for (int i = 0; i < 3; i++)
        pthread_join(callers[i], NULL);
    atomic_store(&watching, false);
    pthread_join(watcher, NULL);
}
END_TEST

Suite *suite_hosted(void)
{
    Suite *suite = suite_create("hosted");
    TCase *t = tcase_create("hosted");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 120);
    tcase_add_test(t, names_are_those_of_files);
    tcase_add_test(t, a_crawl_is_made_waits_and_goes_on_with_seeds);
    tcase_add_test(t, it_may_begin_with_nothing);
    tcase_add_test(t, several_run_side_by_side);
    tcase_add_test(t, paused_it_leases_nothing_and_stays_so_over_a_restart);
    tcase_add_test(
        t, stopped_it_lets_its_directory_go_and_stays_so_over_a_restart);
    tcase_add_test(t, deleted_it_is_gone_with_its_directory);
    tcase_add_test(t, deleted_by_the_frontiers_api_it_is_gone_in_the_same_way);
    tcase_add_test(t, what_a_crash_left_of_a_deletion_is_removed);
    tcase_add_test(t, a_limit_stops_it_and_a_higher_one_lets_it_go_on);
    tcase_add_test(t, one_that_is_damaged_stops_alone);
    tcase_add_test(t, a_directory_in_use_by_another_is_left_alone);
    tcase_add_test(t, settings_go_in_and_out_as_json);
    tcase_add_test(t, bad_settings_are_refused_with_their_name);
    tcase_add_test(t, files_of_clients_are_inside_the_service);
    tcase_add_test(t, rate_scope_and_limits_change_while_it_runs_and_are_kept);
    tcase_add_test(t, a_crawl_gives_up_only_where_it_is_told_to);
    tcase_add_test(t, other_settings_change_when_it_is_stopped);
    tcase_add_test(t, a_file_makes_a_crawl_of_its_name);
    tcase_add_test(
        t, a_file_is_refused_for_what_a_service_cannot_do_with_its_place);
    tcase_add_test(t, a_crawl_yaml_with_what_a_service_cannot_do_is_not_opened);
    tcase_add_test(t, a_changed_file_changes_the_crawl_and_adds_its_seeds);
    tcase_add_test(
        t, what_was_changed_through_the_service_outlives_an_unchanged_file);
    tcase_add_test(t, hosts_and_recent_answers_are_told);
    tcase_add_test(t, others_use_a_crawl_only_while_it_is_open);
    tcase_add_test(t, callers_and_watchers_do_not_get_in_each_others_way);
    suite_add_tcase(suite, t);
    return suite;
}
