/* SPDX-License-Identifier: MIT */
/* The paths under /v1/crawls: names, methods, members, results of calls.
 * tests/cli/serve-crawl.sh tests running crawls. */
#include "tests/unit/service/http/http_rig.h"

static struct http_rig rig;

static enum status cannot_make(void *ctx, const char *name, const char *dir,
                               json_t *in, struct crawl_job **out,
                               struct buf *why)
{
    (void)ctx;
    (void)name;
    (void)dir;
    (void)in;
    (void)out;
    buf_add_str(why, "settings: no such thing");
    return STATUS_ARG;
}

static enum status settings(void *ctx, struct crawl_job *m, const char *dir,
                            json_t **out, struct buf *why)
{
    (void)ctx;
    (void)m;
    (void)dir;
    (void)why;
    *out = json_pack("{s:{s:s}}", "settings", "delay", "1s");
    return STATUS_OK;
}

static void set_up(void)
{
    const struct crawl_factory factory = {.create = cannot_make,
                                          .settings = settings};

    http_rig_make(&rig, &factory);
}

static void tear_down(void)
{
    http_rig_fini(&rig);
}

static void says(const char *method, const char *path, const char *body,
                 long status, const char *text)
{
    http_rig_says(&rig, method, path, body, status, text);
}

FIXTURE(set_up, tear_down);

TEST(the_list_has_own_and_served_ones)
{
    says(NULL, "/v1/urls", "{\"url\":\"http://a.test/\",\"crawl\":\"b/c\"}",
         200, "ok");
    says(NULL, "/v1/crawls", NULL, 200, "{\"name\":\"one\",\"kind\":\"own\",");
    says(NULL, "/v1/crawls", NULL, 200,
         "{\"name\":\"b/c\",\"kind\":\"served\"}");
    says(NULL, "/v1/crawls/one", NULL, 200, "\"state\":\"failed\"");
    says(NULL, "/v1/crawls/one", NULL, 200,
         "\"why\":\"a test's crawl cannot be opened\"");
    says(NULL, "/v1/crawls/b%2Fc", NULL, 200, "\"kind\":\"served\"");
    says(NULL, "/v1/crawls/two", NULL, 404, "no such crawl");
}

TEST(names_in_paths_are_decoded_and_whole)
{
    static const char *const none[] = {
        "/v1/crawls/",       "/v1/crawls//pause", "/v1/crawls/one/",
        "/v1/crawls/b/c",    "/v1/crawls/one/x",  "/v1/crawls/one/pause/",
        "/v1/crawls/../one", "/v1//crawls/one",
    };

    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        says(NULL, none[i], NULL, 404, "nothing at this path");
    says(NULL, "/v1/crawls/%6Fne", NULL, 200, "\"name\":\"one\"");
    says(NULL, "/v1/crawls/one%00", NULL, 400, "zero byte");
    says(NULL, "/v1/crawls/%ff", NULL, 400, "cannot be read");
    says(NULL, "/v1/crawls/%4", NULL, 400, "cannot be read");
    says(NULL, "/v1/crawls/one%2Fpause", "{}", 405, "POST");
    says(NULL, "/v1/crawls/..%2F..%2Fone/pause", "{}", 404, "crawl");
    says(NULL, "/v1/crawls/%2e%2e/settings", NULL, 404, "crawl");
    says(NULL, "/v1/crawls/%0d%0aX:%20y/hosts", NULL, 404, "crawl");
}

TEST(rfc9110_15_5_6_405_names_all_methods_of_the_path)
{
    struct http_reply a = http_rig_ask(&rig, "PUT", "/v1/crawls/one", NULL);

    ck_assert_int_eq(a.status, 405);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&a.head), "Allow: GET, HEAD, DELETE\r\n"));
    http_reply_fini(&a);
    a = http_rig_ask(&rig, "DELETE", "/v1/crawls/one/settings", NULL);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&a.head), "Allow: GET, HEAD, PATCH\r\n"));
    http_reply_fini(&a);
    says(NULL, "/v1/crawls/one/pause", NULL, 405, "GET");
}

TEST(what_is_not_named_is_refused)
{
    says(NULL, "/v1/crawls?size=1", NULL, 400, "there is no 'size'");
    says(NULL, "/v1/crawls/one?x=1", NULL, 400, "there is no 'x'");
    says("DELETE", "/v1/crawls/one?sure=1", NULL, 400, "there is no 'sure'");
    says(NULL, "/v1/crawls/one/pause", "{\"for\":5}", 400, "no 'for'");
    says(NULL, "/v1/crawls/one/pause", "[]", 400, "an object");
    says(NULL, "/v1/crawls/one/pause?x=1", "{}", 400, "no query");
    says(NULL, "/v1/crawls/one/settings?x=1", NULL, 400, "no 'x'");
    says(NULL, "/v1/crawls/one/hosts?sort=best", NULL, 400, "slowest");
    says(NULL, "/v1/crawls/one/hosts?size=1001", NULL, 400, "1 to 1000");
    says(NULL, "/v1/crawls/one/recent?size=0", NULL, 400, "1 to 200");
    says(NULL, "/v1/crawls/one/audit", "{\"deep\":1}", 400, "no 'deep'");
    says(NULL, "/v1/crawls/one/status", "{\"hosts\":1}", 400, "no 'hosts'");
    says("PATCH", "/v1/crawls/one/settings", "[1]", 400, "an object");
    says("PATCH", "/v1/crawls/one/settings", "{\"a\":1,\"a\":2}", 400, "JSON");
    says(NULL, "/v1/events?since=1", NULL, 400, "no 'since'");
    says(NULL, "/openapi.json?v=2", NULL, 400, "no 'v'");
}

TEST(seeds_are_an_array_of_strings_and_not_too_many)
{
    struct buf many;

    says(NULL, "/v1/crawls/one/seeds", "{}", 400, "'urls' is missing");
    says(NULL, "/v1/crawls/one/seeds", "{\"urls\":\"x\"}", 400, "an array");
    says(NULL, "/v1/crawls/one/seeds", "{\"urls\":[\"a\",1]}", 400, "item 1");
    says(NULL, "/v1/crawls/one/seeds", "{\"urls\":[],\"depth\":1}", 400,
         "'depth'");
    buf_init(&many, (size_t)1 << 22);
    for (unsigned i = 0; i <= 16384; i++)
        buf_add_str(&many, i > 0 ? ",\"\"" : "{\"urls\":[\"\"");
    buf_add_str(&many, "]}");
    says(NULL, "/v1/crawls/one/seeds", buf_str(&many), 413, "16384");
    buf_fini(&many);
}

TEST(a_name_is_checked_before_anything_is_made)
{
    static const char *const names[] = {"",        ".a",   "..", "a/b", "a b",
                                        "\\u00fc", "a\\n", "~",  "/etc"};
    char body[200];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(body, sizeof body, "{\"name\":\"%s\"}", names[i]);
        says(NULL, "/v1/crawls", body, 400, "'name' must be");
    }
    snprintf(body, sizeof body, "{\"name\":\"%065d\"}", 7);
    says(NULL, "/v1/crawls", body, 400, "'name' must be");
    says(NULL, "/v1/crawls", "{}", 400, "'name' is missing");
    says(NULL, "/v1/crawls", "{\"name\":\"two\",\"settings\":[]}", 400,
         "'settings' must be an object");
    says(NULL, "/v1/crawls", "{\"name\":\"two\",\"dir\":\"/\"}", 400, "'dir'");
}

TEST(what_the_registry_says_becomes_a_status)
{
    says(NULL, "/v1/crawls", "{\"name\":\"one\"}", 409, "this name");
    says(NULL, "/v1/crawls", "{\"name\":\"two\"}", 400, "no such thing");
    says(NULL, "/v1/crawls/two/pause", "{}", 404, "crawl");
    says(NULL, "/v1/crawls/one/pause", "{}", 409, "");
    says(NULL, "/v1/crawls/one/seeds", "{\"urls\":[\"a\"]}", 409, "");
    says(NULL, "/v1/crawls/one/hosts", NULL, 409, "");
    says(NULL, "/v1/crawls/one/recent", NULL, 409, "");
    says(NULL, "/v1/crawls/two/settings", NULL, 404, "crawl");
    says(NULL, "/v1/crawls/one/settings", NULL, 200, "{\"settings\":{");
}

TEST(without_a_registry_there_are_only_served_crawls)
{
    struct http_options o = {.listen = "127.0.0.1:0",
                             .loopback = true,
                             .drain_ms = 500,
                             .frontier = rig.frontier.s};

    http_server_close(rig.server);
    ck_ok(http_server_open(&rig.server, &o));
    says(NULL, "/v1/crawls", NULL, 200, "{\"crawls\":[]}");
    says(NULL, "/v1/crawls", "{\"name\":\"two\"}", 404,
         "this process runs no crawls");
    says(NULL, "/v1/crawls/one/pause", "{}", 404,
         "this process runs no crawls");
    says(NULL, "/v1/crawls/one/export", "{}", 404,
         "this process runs no crawls");
    says("DELETE", "/v1/crawls/one", NULL, 200, "{\"deleted\":0}");
}

TEST(without_a_frontier_there_are_only_own_ones)
{
    struct http_options o = {.listen = "127.0.0.1:0",
                             .loopback = true,
                             .drain_ms = 500,
                             .crawls = rig.crawls};

    http_server_close(rig.server);
    ck_ok(http_server_open(&rig.server, &o));
    says(NULL, "/v1/crawls", NULL, 200, "{\"crawls\":[{\"name\":\"one\"");
    says(NULL, "/v1/crawls/two", NULL, 404, "no such crawl");
    says("DELETE", "/v1/crawls/two", NULL, 200, "{\"deleted\":0}");
    says(NULL, "/v1/crawls/one/settings", NULL, 200, "{\"settings\":{");
}
