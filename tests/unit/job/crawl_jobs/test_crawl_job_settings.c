/* SPDX-License-Identifier: MIT */
/*
 * test_crawl_job_settings.c - a service's crawl settings as JSON: which it
 * accepts, which it refuses, which change while the crawl runs.
 */
#include "tests/unit/job/crawl_jobs/crawl_job_rig.h"

TIMEOUT(120);
FIXTURE(setup, teardown);

TEST(settings_go_in_and_out_as_json)
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

/* They would be asked past the guard. */
TEST(a_client_names_no_kafka_brokers_unless_private_addresses_are_allowed)
{
    refuses(STATUS_ARG, "jsonl: Kafka brokers are named in a file",
            CRAWLS_CREATE, "a",
            "{'settings': {'jsonl': 'kafka://127.0.0.1:1/t'}}");
}

/* Promise (The service): paths from clients stay inside the service's
 * directory; a bad setting is refused with its name and leaves nothing behind.
 * See also `crawl_job_settings/files_of_clients_are_inside_the_service`. */
TEST(bad_settings_are_refused_with_their_name)
{
    static const struct {
        const char *in, *why;
    } cases[] = {
        {"{'delay': 'soon'}", "delay: "},
        {"{'dealy': '1s'}", "did you mean delay?"},
        {"{'delay': ['1s']}", "delay: it takes one value"},
        {"{'delay': {}}", "delay: a setting must be"},
        {"{'exclude': '('}", "--exclude '('"},
        {"{'delay': '60s', 'max-delay': '1s'}", "--max-delay"},
        {"{'output': 'x'}", "output: a service keeps"},
        {"{'config': 'x'}", "config: a crawl in a service does not"},
        {"{'quiet': true}", "quiet: leave it out"},
        {"{'verbose': false}", "verbose: leave it out"},
        {"{'progress': 'none'}", "progress: leave it out"},
        {"{'metrics': '127.0.0.1:0'}", "metrics: leave it out"},
        {"{'metrics-open': true}", "metrics-open: leave it out"},
        {"{'seeds': []}", "seeds: seeds are given beside"},
        {"{'input': '-'}", "input: a service has no standard input"},
        {"{'input': '/etc/passwd'}", "input: a path must be relative"},
        {"{'input': '../x'}", "input: it is not a path inside"},
        {"{'input': 'crawls/../../x'}", "input: it is not a path inside"},
        {"{'input': 'none'}",
         "input: the service's directory has no such file"},
        {"{'input': 'out'}", "input: it is not a plain file"},
        {"{'input': 'link/x'}",
         "input: the service's directory has no such directory"},
        {"{'input': 'crawls'}", "input: it is not a plain file"},
        {"{'jsonl': 'frontier.db'}", "jsonl: its name must end in .jsonl"},
        {"{'jsonl': '-'}", "jsonl: a service has no standard output"},
        {"{'jsonl': 'kafka://h', 'allow-private': true}",
         "--jsonl 'kafka://h'"},
        {"{'kafka-property': ['ssl.ca.location=/x']}",
         "kafka-property: a file is named in a file"},
        {"{'kafka-property': ['plugin.library.paths=x']}",
         "--kafka-property 'plugin.library.paths'"},
        {"{'block-filter': '/x'}", "block-filter: a path must be relative"},
        {"[]", "settings must be an object"},
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

/* Else a client could tell from the answers which ports of the service's
 * network are open. The operator's files name any server. */
TEST(clients_name_no_server_that_their_crawl_may_not_ask)
{
    static const struct {
        const char *in, *why;
    } cases[] = {
        {"'filter': 'redis', 'redis': 'redis://127.0.0.1:1/?key=x'",
         "redis: a Redis server is named in a file"},
        {"'block-filter': 'redis://127.0.0.1:1/?key=x'",
         "block-filter: a Redis server is named in a file"},
        {"'block-filter': 'redis://name.example/?key=x'",
         "block-filter: a Redis server is named in a file"},
        {"'allow-private': true, 'block-filter': 'redis+unix:///s?key=x'",
         "block-filter: a socket is named in a file"},
        {"'proxy': 'http://127.0.0.1:1'", "proxy: the crawl itself may not"},
        {"'proxy': 'socks5h://u:p@10.0.0.1:1080'",
         "proxy: the crawl itself may not"},
        {"'proxy': 'http://localhost:3128'", "proxy: the crawl itself may not"},
        {"'proxy': 'http://proxy.example:22'",
         "proxy: the crawl itself may not"},
    };
    char text[256];

    does(CRAWLS_CREATE, "there", "{'settings': {'min-disk': 0}}");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "{'settings': {%s}}", cases[i].in);
        refuses(STATUS_ARG, cases[i].why, CRAWLS_CREATE, "a", text);
        snprintf(text, sizeof text, "{%s}", cases[i].in);
        refuses(STATUS_ARG, cases[i].why, CRAWLS_SET_SETTINGS, "there", text);
    }
    does(CRAWLS_CREATE, "b",
         "{'settings': {'proxy': 'http://proxy.example:3128', 'min-disk': 0}}");
    does(CRAWLS_CREATE, "c",
         "{'settings': {'proxy': 'http://127.0.0.1:3128', 'min-disk': 0, "
         "'allow-net': '127.0.0.1'}}");
}

TEST(files_of_clients_are_inside_the_service)
{
    uint64_t size = 0;

    ck_ok(file_replace(in_dir("seeds.txt"), bytes_of_str(SEED "\n")));
    does(CRAWLS_CREATE, "a",
         "{'settings': {'input': 'seeds.txt', 'jsonl': 'a.jsonl', " QUICK "}}");
    becomes("a", CRAWLS_WAITING);
    ck_assert_uint_eq(look("a").stats.counts.skipped, 1);
    does(CRAWLS_STOP, "a", NULL);
    ck_ok(file_size(in_dir("a.jsonl"), &size));
    ck_assert_uint_gt(size, 0);
}

/* Its host does not respond and is asked again in an hour. */
#define REFUSING "http://127.0.0.1:2/"
#define PATIENT  "'retry-delay': '1h', 'max-delay': '2h', 'delay': 0, 'tries': 3"

TEST(a_crawl_gives_up_only_where_it_is_told_to)
{
    does(CRAWLS_CREATE, "untold",
         "{'seeds': ['" REFUSING "'], 'settings': {'allow-private': true, "
         "'min-disk': 0, 'threads': 1, 'robots': 'off', 'sitemap': "
         "'off', " PATIENT "}}");
    while (look("untold").stats.requests == 0)
        usleep(10000);
    does(CRAWLS_CREATE, "told",
         "{'seeds': ['" REFUSING "'], 'settings': {'allow-private': true, "
         "'min-disk': 0, 'threads': 1, 'robots': 'off', 'sitemap': 'off', "
         "'give-up': '300ms', " PATIENT "}}");
    becomes("told", CRAWLS_STOPPED);
    ck_assert_int_eq(look("told").end, CRAWL_GAVE_UP);
    ck_assert_int_eq(look("untold").state, CRAWLS_RUNNING);
    does(CRAWLS_SET_SETTINGS, "untold", "{'give-up': '300ms'}");
    becomes("untold", CRAWLS_STOPPED);
    ck_assert_int_eq(look("untold").end, CRAWL_GAVE_UP);
}
