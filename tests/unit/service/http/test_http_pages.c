/* SPDX-License-Identifier: MIT */
/* The document at /openapi.json lists exactly what the server has. */
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "crawler/crawl_stats.h"
#include "crawler/url_columns.h"
#include "frontier/host_columns.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "service/http/http_pages.h"
#include "service/http/http_request.h"
#include "service/net/auth.h"
#include "tests/unit/unit.h"

static json_t *document;

static void set_up(void)
{
    struct bytes text = http_openapi_document();

    document = json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(document);
}

static void tear_down(void)
{
    json_decref(document);
}

static json_t *operation(const char *path, const char *method)
{
    json_t *item = json_object_get(json_object_get(document, "paths"), path);
    char lower[10];
    size_t n = strlen(method);

    for (size_t i = 0; i <= n && i < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)method[i]);
    return json_object_get(item, lower);
}

static const struct http_route *route(const char *path, const char *method)
{
    for (size_t i = 0; http_route_tables[i] != NULL; i++)
        for (const struct http_route *at = http_route_tables[i];
             at->path != NULL; at++)
            if (strcmp(at->path, path) == 0 &&
                strcasecmp(at->method, method) == 0)
                return at;
    return NULL;
}

static bool has_string(json_t *list, const char *s)
{
    json_t *v;
    size_t i;

    json_array_foreach(list, i,
                       v) if (strcmp(json_string_value(v), s) == 0) return true;
    return false;
}

FIXTURE(set_up, tear_down);

/* Promise (The service): a counter of a crawl has one name and one value in the
 * summary, in status and progress as JSON, over HTTP and in the metrics, and
 * the documents are made from the same table. See also `tests/cli/counters.sh`,
 * `progress/json_has_each_counter_and_the_rates`. */
TEST(an_own_crawl_has_each_counter)
{
    json_t *schemas =
        json_object_get(json_object_get(document, "components"), "schemas");
    json_t *own = json_object_get(schemas, "OwnCrawl");
    json_t *properties = json_object_get(own, "properties");

    for (size_t i = 0; i < CRAWL_COUNTERS; i++) {
        const char *name = crawl_counters[i].name;

        ck_assert_msg(json_object_get(properties, name) != NULL, "%s", name);
        ck_assert_msg(has_string(json_object_get(own, "required"), name), "%s",
                      name);
    }
    /* name, kind, state, end, why, started_at, elapsed_seconds,
     * pages_per_second, bytes_per_second, waiting, errors, filter */
    ck_assert_uint_eq(json_object_size(properties), CRAWL_COUNTERS + 12);
}

/* The items of the list `list` of the schema have these columns. */
static void has_columns(const char *schema, const char *list,
                        const struct column_view *v)
{
    json_t *item = NULL, *properties = NULL;

    ck_assert_int_eq(json_unpack(document, "{s:{s:{s:{s:{s:{s:o}}}}}}",
                                 "components", "schemas", schema, "properties",
                                 list, "items", &item),
                     0);
    properties = json_object_get(item, "properties");
    ck_assert_uint_eq(json_object_size(properties), v->count);
    for (size_t i = 0; i < v->count; i++) {
        const char *name = column_of(v, i)->name;

        ck_assert_msg(json_object_get(properties, name) != NULL, "%s", name);
        ck_assert_msg(has_string(json_object_get(item, "required"), name), "%s",
                      name);
    }
}

/* Promise (The service): a column of a URL has one name and one value in
 * export, --jsonl, explain and over HTTP, and the documents are made from the
 * same table. See also `tests/cli/columns.sh`. */
TEST(a_recent_answer_has_the_columns_of_its_view)
{
    has_columns("Recent", "recent", &row_views[ROW_VIEW_RECENT]);
}

TEST(a_host_has_the_columns_of_its_view)
{
    has_columns("Hosts", "hosts", &host_views[HOST_VIEW_LIVE]);
}

static json_t *setting(const char *name)
{
    json_t *all = NULL;

    ck_assert_int_eq(json_unpack(document, "{s:{s:{s:{s:o}}}}", "components",
                                 "schemas", "Settings", "properties", &all),
                     0);
    return json_object_get(all, name);
}

TEST(settings_are_those_that_a_crawl_in_a_service_has)
{
    static const char *const others[] = {"output", "quiet",   "config",
                                         "seeds",  "metrics", "nonsense"};

    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];

        ck_assert_msg((setting(o->name) != NULL) == crawl_jobs_takes(o), "%s",
                      o->name);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(setting(others[i]) == NULL, "%s", others[i]);
    ck_assert_str_eq(json_string_value(
                         json_object_get(setting("delay"), "default")),
                     "1s");
    ck_assert(has_string(json_object_get(setting("robots"), "enum"), "report"));
    ck_assert(has_string(json_object_get(setting("depth"), "type"), "integer"));
    ck_assert(has_string(json_object_get(setting("include"), "type"), "array"));
}

static bool has_response(json_t *operation, const char *status)
{
    return json_object_get(json_object_get(operation, "responses"), status) !=
           NULL;
}

/* How many of its parameters stand in the path, by reference or here. */
static size_t names_in_path(json_t *operation)
{
    json_t *p, *refs = json_object_get(json_object_get(document, "components"),
                                       "parameters");
    size_t i, n = 0;

    json_array_foreach(json_object_get(operation, "parameters"), i, p)
    {
        const char *ref = json_string_value(json_object_get(p, "$ref"));
        const char *in;

        if (ref != NULL)
            p = json_object_get(refs, strrchr(ref, '/') + 1);
        in = json_string_value(json_object_get(p, "in"));
        n += in != NULL && strcmp(in, "path") == 0;
    }
    return n;
}

static size_t count_of(const char *text, char c)
{
    size_t n = 0;

    while ((text = strchr(text, c)) != NULL) {
        text++;
        n++;
    }
    return n;
}

TEST(each_route_is_in_the_document_with_what_follows_from_it)
{
    static const char *const always[] = {"400", "413", "421", "503"};

    for (size_t i = 0; http_route_tables[i] != NULL; i++)
        for (const struct http_route *at = http_route_tables[i];
             at->path != NULL; at++) {
            json_t *o = operation(at->path, at->method);
            const char *role = json_string_value(json_object_get(o, "x-role"));
            bool open = json_array_size(json_object_get(o, "security")) == 0 &&
                        json_object_get(o, "security") != NULL;

            ck_assert_msg(o != NULL, "%s %s", at->method, at->path);
            ck_assert_msg(role != NULL, "%s %s", at->method, at->path);
            ck_assert_str_eq(role, at->role == AUTH_NONE
                                       ? "none"
                                       : auth_role_name(at->role));
            ck_assert_msg(open == (at->role == AUTH_NONE), "%s", at->path);
            ck_assert_msg((json_object_get(o, "requestBody") != NULL) ==
                              (at->body || at->file),
                          "%s %s: body", at->method, at->path);
            for (size_t j = 0; j < sizeof always / sizeof *always; j++)
                ck_assert(has_response(o, always[j]));
            ck_assert(has_response(o, "200") || has_response(o, "201"));
            ck_assert(has_response(o, "401") == !open);
            ck_assert(has_response(o, "415") == at->body);
            ck_assert_msg(names_in_path(o) == count_of(at->path, '{'), "%s",
                          at->path);
        }
}

TEST(each_path_of_the_document_has_a_route)
{
    const char *path, *method;
    json_t *item, *o;
    size_t n = 0;

    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        json_object_foreach(item, method, o)
        {
            ck_assert_msg(route(path, method) != NULL, "%s %s", method, path);
            ck_assert(json_is_string(json_object_get(o, "operationId")));
            n++;
        }
    }
    ck_assert_uint_gt(n, 30);
}

/* Follows every $ref in the document. */
static void check_refs(json_t *j)
{
    const char *name;
    json_t *member;
    size_t i;

    if (json_is_array(j)) {
        json_array_foreach(j, i, member) check_refs(member);
        return;
    }
    json_object_foreach(j, name, member)
    {
        if (strcmp(name, "$ref") == 0) {
            char text[100], *save = NULL;
            json_t *at = document;

            snprintf(text, sizeof text, "%s", json_string_value(member));
            for (char *part = strtok_r(text + 2, "/", &save); part != NULL;
                 part = strtok_r(NULL, "/", &save))
                at = json_object_get(at, part);
            ck_assert_msg(at != NULL, "%s", json_string_value(member));
        }
        check_refs(member);
    }
}

TEST(each_reference_leads_somewhere)
{
    check_refs(document);
}

TEST(it_is_of_this_release)
{
    json_t *info = json_object_get(document, "info");

    ck_assert_str_eq(json_string_value(json_object_get(info, "version")),
                     URLWEIR_VERSION);
}
