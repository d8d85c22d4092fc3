/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "cli/command.h"
#include "cli/crawl_command_line.h"
#include "config/config.h"
#include "crawler/html/links.h"
#include "job/settings/settings.h"
#include "tests/unit/cli/capture.h"
#include "tests/unit/unit.h"

static struct crawl_settings s, before;
static struct capture captured;
static char dir[64], path[128];

static void make_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-settings-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void remove_dir(void)
{
    static const char *const names[] = {SETTINGS_FILE, "my.yaml", "frontier.db",
                                        SETTINGS_SECRETS};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static const char *file(const char *name, const char *content)
{
    snprintf(path, sizeof path, "%s/%s", dir, name);
    ck_ok(file_replace(path, bytes_of_str(content)));
    return path;
}

static int count(char **argv)
{
    int n = 0;

    while (argv[n] != NULL)
        n++;
    return n;
}

/* Arguments of crawl with everything it needs. */
#define CRAWL(...)                                                             \
    ((char *[]){"crawl", "https://example.org/", "-o", "x", __VA_ARGS__, NULL})
#define RESUME(...) ((char *[]){"resume", dir, __VA_ARGS__, NULL})

static void accepted(char **argv)
{
    bool ok;
    int code = -1;

    capture_start(&captured, STDERR_FILENO);
    ok = settings_of_crawl(&s, count(argv), argv, &code);
    capture_end(&captured);
    ck_assert_msg(ok, "%s", captured.text);
}

static void refused_as(int code, const char *why, char **argv)
{
    int got = -1;
    bool ok;

    capture_start(&captured, STDERR_FILENO);
    if (strcmp(argv[0], "crawl") == 0)
        ok = settings_of_crawl(&s, count(argv), argv, &got);
    else
        ok = settings_of_resume(&s, &before, count(argv), argv, &got);
    capture_end(&captured);
    ck_assert_msg(!ok, "accepted, not: %s", why);
    ck_assert_msg(strstr(captured.text, why) != NULL, "said: %s",
                  captured.text);
    ck_assert_int_eq(got, code);
}

static void refused(const char *why, char **argv)
{
    refused_as(EXIT_USAGE, why, argv);
}

/* Promise (Commands and options): the documented defaults are the defaults. */
TEST(defaults_are_those_of_the_contract)
{
    settings_init(&s);
    ck_assert_int_eq(s.depth, -1);
    ck_assert_int_eq(s.scope, SCOPE_HOST);
    ck_assert_int_eq(s.max_url_length, 2048);
    ck_assert_int_eq(s.limit_pages, 0);
    ck_assert_uint_eq(settings_max_body(&s), 4 << 20);
    ck_assert_int_eq(s.max_links, 50000);
    ck_assert_int_eq(s.sitemap, SITEMAPS_AUTO);
    ck_assert_uint_eq(s.sitemap_url.count, 0);
    ck_assert_int_eq(s.assets, ASSETS_OFF);
    ck_assert_uint_eq(s.memory_bytes, 512 << 20);
    ck_assert_uint_eq(s.min_disk_bytes, 1 << 30);
    ck_assert_int_eq(s.give_up_ms, 300000);
    ck_assert_int_eq(s.delay_ms, 1000);
    ck_assert_int_eq(s.max_delay_ms, 30000);
    ck_assert_int_eq(s.max_crawl_delay_ms, 300000);
    ck_assert_int_eq(s.conns_per_host, 1);
    ck_assert_int_eq(s.conns_per_ip, 8);
    ck_assert_int_eq(s.robots, ROBOTS_OBEY);
    ck_assert_int_eq(s.noindex, NOINDEX_REPORT);
    ck_assert_int_eq(s.queue_key, QUEUE_KEY_HOST);
    ck_assert_int_eq(s.concurrency, 0);
    ck_assert_int_eq(s.threads, 0);
    ck_assert_int_eq(s.tries, 3);
    ck_assert_int_eq(s.retry_delay_ms, 1000);
    ck_assert_int_eq(s.timeout_ms, 20000);
    ck_assert_int_eq(s.connect_timeout_ms, 10000);
    ck_assert_int_eq(s.max_redirects, 5);
    ck_assert_int_eq(s.filter, FILTER_SCALABLE);
    ck_assert_double_eq(s.fpr, 0.001);
    ck_assert_int_eq(s.dup_content, DUP_CONTENT_REPORT);
    ck_assert_int_eq(s.record, RECORD_NONE);
    ck_assert_int_eq(s.checkpoint_ms, 60000);
    ck_assert_int_eq(s.progress, PROGRESS_AUTO);
    ck_assert(!s.allow_private && !s.insecure && !s.compare_text);
    settings_fini(&s);
}

/* Promise (Commands and options): every option does what its help says or is
 * refused; the command line overrides the file. See also
 * `tests/cli/options.sh`,
 * `settings/two_that_were_said_and_cannot_both_hold_are_refused`. */
TEST(the_command_line_wins_over_the_file)
{
    make_dir();
    file("my.yaml", "depth: 2\nlimit: 10\ninclude: [a, b]\nexclude: [c]\n"
                    "seeds: ['http://file.example/']\noutput: y\n");
    accepted(CRAWL("-d", "5", "-C", path, "-I", "z"));
    ck_assert_int_eq(s.depth, 5); /* given before --config, still wins */
    ck_assert_int_eq(s.limit_pages, 10);
    ck_assert_uint_eq(s.include.count, 1);
    ck_assert_str_eq(s.include.item[0], "z");
    ck_assert_uint_eq(s.exclude.count, 1);
    ck_assert_str_eq(s.output, "x");
    ck_assert_uint_eq(s.seeds.count, 1);
    ck_assert_str_eq(s.seeds.item[0], "https://example.org/");
    settings_fini(&s);
    accepted((char *[]){"crawl", "-C", path, NULL});
    ck_assert_str_eq(s.output, "y");
    ck_assert_str_eq(s.seeds.item[0], "http://file.example/");
    settings_fini(&s);
    remove_dir();
}

TEST(numbers_out_of_range_are_refused)
{
    refused("--concurrency: '0' is out of range; it takes 1 to 10000",
            CRAWL("--concurrency", "0"));
    refused("--fpr: '0' is out of range", CRAWL("--fpr", "0"));
    refused("--fpr: '0.51' is out of range; it takes 1e-09 to 0.5",
            CRAWL("--fpr", "0.51"));
    refused("-n: '0' is out of range", CRAWL("-n", "0"));
    refused("--memory: '1M' is out of range; it takes 96M",
            CRAWL("--memory", "1M"));
    refused("-w: '-1' is not a time", CRAWL("-w", "-1"));
    refused("--tries: '0'", CRAWL("--tries", "0"));
}

TEST(two_that_were_said_and_cannot_both_hold_are_refused)
{
    refused("--filter redis needs --redis", CRAWL("--filter", "redis"));
    refused("--redis: a Redis URL is",
            CRAWL("--filter", "redis", "--redis", "http://h/"));
    refused("another filter was chosen", CRAWL("--redis", "redis://h"));
    refused("cannot grow", CRAWL("--expect", "10"));
    refused("second check", CRAWL("--block-exact", "list"));
    refused("--block-filter: a Redis URL is",
            CRAWL("--block-filter", "redis://h?x=y"));
    refused("--delay 1m is above --max-delay 30s, the most a delay may grow "
            "to; raise --max-delay or lower --delay",
            CRAWL("-w", "1m", "--max-delay", "30s"));
    /* No option makes a crawl less polite as a side effect. */
    refused("--delay 1s is above --max-delay 500ms",
            CRAWL("--max-delay", "0.5s"));
    refused("--random-delay varies --delay, which is 0",
            CRAWL("--random-delay", "-w", "0"));
    refused("-q and -v", CRAWL("-qv"));
    refused("--conns-per-host 9 is above --concurrency 4",
            CRAWL("--conns-per-host", "9", "-c", "4"));
    refused("--conns-per-host 9 is above --conns-per-ip 4",
            CRAWL("--conns-per-host", "9", "--conns-per-ip", "4"));
    refused("--threads 9 is above --concurrency 4",
            CRAWL("--threads", "9", "-c", "4"));
    refused("--connect-timeout 30s is above --timeout 20s",
            CRAWL("--connect-timeout", "30"));
    refused("--max-body 40M is more than a quarter of --memory 128M",
            CRAWL("--max-body", "40M", "--memory", "128M"));
    refused("--fpr is the rate of a filter",
            CRAWL("--filter", "none", "--fpr", "0.1"));
    refused("--ignore leaves nothing of --follow",
            CRAWL("--follow", "a,area", "--ignore", "area,a,link"));
    refused("--delay 2m is above --give-up 1m",
            CRAWL("-w", "2m", "--give-up", "1m"));
    refused("--queue-key ip needs the hosts' addresses",
            CRAWL("--queue-key", "ip", "-x", "http://127.0.0.1:3128"));
}

TEST(values_have_the_shape_they_need)
{
    refused("--header: a header is `Name: value`", CRAWL("-H", "X"));
    refused("--header: a header is", CRAWL("-H", "a b: c"));
    refused("--header 'Host': the URL decides it", CRAWL("-H", "Host: x"));
    refused("use --user-agent", CRAWL("-H", "user-AGENT: x"));
    refused("-H: it holds a control character",
            CRAWL("-H", "A: b\r\nCookie: c"));
    refused("--mime 'text': it takes a type", CRAWL("--mime", "text"));
    refused("a family is written text/", CRAWL("--mime", "text/*"));
    refused("--mime 'text/html;x'", CRAWL("--mime", "text/html;x"));
    refused("--allow-net 'localhost': it takes a network",
            CRAWL("--allow-net", "localhost"));
    refused("--deny-net '10.0.0.0\\8'", CRAWL("--deny-net", "10.0.0.0\\8"));
    refused("--nat64 'nat64': it takes a network", CRAWL("--nat64", "nat64"));
    refused("--allow-port 'smtp': it takes a port from 1 to 65535",
            CRAWL("--allow-port", "25,smtp"));
    refused("--resolve 'a:b': it takes HOST:PORT:ADDRESS",
            CRAWL("--resolve", "a:b"));
    refused("--resolve 'a:0:127.0.0.1'", CRAWL("--resolve", "a:0:127.0.0.1"));
    refused("--resolve '[::1:80:1.2.3.4'",
            CRAWL("--resolve", "[::1:80:1.2.3.4"));
    refused("--proxy 'ftp://x/'", CRAWL("-x", "ftp://x/"));
    refused("--user-agent '1x': it must begin with a name", CRAWL("-U", "1x"));
    refused("--contact 'me'", CRAWL("--contact", "me"));
    accepted(CRAWL("-H", "Accept: text/html", "-H", "X-Y:", "--mime",
                   "Text/HTML,image/", "--allow-net", "127.0.0.0/8,::1",
                   "--resolve", "a:80:127.0.0.1", "--resolve",
                   "[::1]:80:127.0.0.1", "-x", "socks5h://127.0.0.1:9050",
                   "--contact", "mailto:me@example.org"));
    ck_assert_uint_eq(s.header.count, 2);
    ck_assert_str_eq(s.mime.item[0], "text/html");
    ck_assert_uint_eq(s.allow_net.count, 2);
    settings_fini(&s);
}

/* Promise (The service): with --metrics everything can be read and nothing
 * changed, from this machine alone unless --metrics-open is given. See also
 * `tests/cli/steer.sh`. */
/* Anyone who can reach the address can read what is served there. */
TEST(metrics_are_for_this_machine_unless_it_is_said_otherwise)
{
    refused("--metrics '9464': it takes HOST:PORT", CRAWL("--metrics", "9464"));
    refused("other machines could read the crawl there",
            CRAWL("--metrics", "0.0.0.0:9464"));
    refused("--metrics-open says who may read", CRAWL("--metrics-open"));
    accepted(CRAWL("--metrics", "127.0.0.1:9464"));
    ck_assert_str_eq(s.metrics, "127.0.0.1:9464");
    settings_fini(&s);
    accepted(CRAWL("--metrics", "0.0.0.0:9464", "--metrics-open"));
    settings_fini(&s);
}

/* ---- the settings file and resume ---- */

static void start_crawl(char **argv)
{
    accepted(argv);
    free(s.output);
    s.output = strdup(dir);
    ck_ok(settings_save(&s));
    settings_fini(&s);
}

static void resumed(const char *diff, char **argv)
{
    int code = -1;
    bool ok;

    capture_start(&captured, STDERR_FILENO);
    ok = settings_of_resume(&s, &before, count(argv), argv, &code);
    capture_end(&captured);
    ck_assert_msg(ok, "%s", captured.text);
    capture_start(&captured, STDERR_FILENO);
    settings_diff(stderr, &before, &s);
    ck_assert_str_eq(capture_end(&captured), diff);
    ck_assert_str_eq(s.output, dir);
    settings_fini(&before);
}

/* Promise (Commands and options): a resume prints what it changes, and refuses
 * to change what is fixed at the start. See also `tests/cli/settings.sh`. */
TEST(what_is_fixed_at_the_start_cannot_be_resumed_otherwise)
{
    make_dir();
    start_crawl(CRAWL("-w", "1"));
    refused("--queue-key cannot be given here: it is fixed when a crawl "
            "starts",
            RESUME("--queue-key", "host"));
    refused("--output cannot be given here", RESUME("-o", "y"));
    refused("one operand too many", RESUME("http://a/"));
    file("my.yaml", "queue-key: host\nseeds: ['https://example.org/']\n");
    resumed("", RESUME("-C", path)); /* says the same again */
    settings_fini(&s);
    file("my.yaml", "queue-key: domain\n");
    refused("my.yaml: queue-key: it is fixed when a crawl starts",
            RESUME("-C", path));
    remove_dir();
}

TEST(without_a_crawl_there_is_nothing_to_resume)
{
    make_dir();
    refused_as(EXIT_CANNOT, "no crawl to resume in", RESUME("-q"));
    file("frontier.db", "x");
    refused_as(EXIT_DAMAGED, SETTINGS_FILE " is missing", RESUME("-q"));
    file(SETTINGS_FILE, "depth: x\n");
    refused_as(EXIT_DAMAGED, SETTINGS_FILE ":1:8: depth: 'x' is not a count",
               RESUME("-q"));
    file(SETTINGS_FILE, "");
    resumed("", RESUME("-q"));
    settings_fini(&s);
    refused_as(EXIT_USAGE, "the crawl's directory is missing",
               ((char *[]){"resume", NULL}));
    remove_dir();
}

static bool holds(const char *name, const char *text)
{
    struct buf content;
    bool found;

    buf_init(&content, CONFIG_CEILING);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    ck_ok(file_read(path, &content));
    found = strstr(buf_str(&content), text) != NULL;
    buf_fini(&content);
    return found;
}

/* Promise (Installing and checks): secrets are kept out of the settings file,
 * in a file that its owner alone can read, and a resume uses them. See also
 * `tests/cli/options.sh`, `tests/cli/blocklist.sh`. */
TEST(secrets_are_kept_in_a_file_for_their_owner_alone)
{
    struct stat info;

    umask(022);
    make_dir();
    start_crawl(CRAWL("-H", "Authorization: Basic eDp5", "-d", "3"));
    ck_assert(!holds(SETTINGS_FILE, "eDp5"));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0644);
    ck_assert(holds(SETTINGS_SECRETS, "eDp5"));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
    ck_assert_int_eq(umask(022), 022);
    resumed("", RESUME("-q"));
    ck_assert_str_eq(s.header.item[0], "Authorization: Basic eDp5");
    settings_fini(&s);
    start_crawl(CRAWL("-w", "1")); /* there are none */
    ck_assert_int_ne(stat(path, &info), 0);
    remove_dir();
}

TEST(settings_that_cannot_be_read_back_are_not_written)
{
    static char seed[600001];

    memset(seed, 'x', sizeof seed - 1);
    make_dir();
    accepted(CRAWL(seed, seed));
    free(s.output);
    s.output = strdup(dir);
    ck_assert_int_eq(settings_save(&s), STATUS_LIMIT);
    snprintf(path, sizeof path, "%s/" SETTINGS_FILE, dir);
    ck_assert_int_ne(access(path, F_OK), 0);
    settings_fini(&s);
    remove_dir();
}
