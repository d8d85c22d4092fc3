/* SPDX-License-Identifier: MIT */
/* live_state.c - ask a running crawl for its state. */
#include "cli/status/live_state.h"

#include <string.h>

#include "cli/control/control_client.h"

#define PATIENCE_MS 1000

static bool is_meant(const json_t *crawl, const char *name)
{
    const char *kind = json_string_value(json_object_get(crawl, "kind"));
    const char *its = json_string_value(json_object_get(crawl, "name"));

    return kind != NULL && strcmp(kind, "own") == 0 && its != NULL &&
           (name == NULL || strcmp(its, name) == 0);
}

/* Accepts only these states. */
static bool is_alive(const json_t *crawl)
{
    static const char *const words[] = {"running", "paused", "waiting",
                                        "stopping"};
    const char *state = json_string_value(json_object_get(crawl, "state"));

    for (size_t i = 0; state != NULL && i < sizeof words / sizeof *words; i++)
        if (strcmp(state, words[i]) == 0)
            return true;
    return false;
}

/* A service runs several crawls; its own directory belongs to none of them. */
static json_t *ask(struct control_client *c, struct buf *why)
{
    const struct control_place *place = control_client_place(c);
    json_t *answer = NULL, *one, *found = NULL;
    size_t i;

    if (place->service && place->crawl == NULL)
        return NULL;
    if (control_client_ask(c, "GET", "/v1/crawls", NULL, &answer, why) !=
        STATUS_OK)
        return NULL;
    json_array_foreach(json_object_get(answer, "crawls"), i, one)
    {
        if (found == NULL && is_meant(one, place->crawl) && is_alive(one))
            found = json_incref(one);
    }
    json_decref(answer);
    return found;
}

static json_t *ask_hosts(struct control_client *c, struct buf *why)
{
    json_t *crawl = ask(c, why), *answer = NULL, *hosts = NULL;
    struct buf path;

    if (crawl == NULL)
        return NULL;
    buf_init(&path, (size_t)64 << 10);
    control_crawl_path(&path, json_string_value(json_object_get(crawl, "name")),
                       "hosts?sort=biggest&size=1000");
    if (control_client_ask(c, "GET", buf_str(&path), NULL, &answer, why) ==
        STATUS_OK)
        hosts = json_incref(json_object_get(answer, "hosts"));
    json_decref(answer);
    json_decref(crawl);
    buf_fini(&path);
    return hosts;
}

static json_t *ask_process(const char *dir,
                           json_t *(*what)(struct control_client *c,
                                           struct buf *why))
{
    const struct control_options o = {.timeout_ms = PATIENCE_MS};
    struct control_client *c = NULL;
    json_t *found = NULL;
    struct buf why;

    buf_init(&why, (size_t)64 << 10);
    if (control_client_open(&c, dir, &o, &why) == STATUS_OK)
        found = what(c, &why);
    control_client_free(c);
    buf_fini(&why);
    /* cppcheck-suppress returnDanglingLifetime ; JSON points at no buffer */
    return found;
}

json_t *live_state(const char *dir)
{
    return ask_process(dir, ask);
}

json_t *live_hosts(const char *dir)
{
    return ask_process(dir, ask_hosts);
}
