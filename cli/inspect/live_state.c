/* SPDX-License-Identifier: MIT */
/* live_state.c - what a crawl that runs says of its own state. */
#include "cli/inspect/live_state.h"

#include <jansson.h>
#include <stdio.h>
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

/* Not one of these words: not taken. */
static bool take_state(const json_t *crawl, char out[LIVE_STATE_SIZE])
{
    static const char *const words[] = {"running", "paused", "waiting",
                                        "stopping"};
    const char *state = json_string_value(json_object_get(crawl, "state"));

    for (size_t i = 0; state != NULL && i < sizeof words / sizeof *words; i++)
        if (strcmp(state, words[i]) == 0) {
            snprintf(out, LIVE_STATE_SIZE, "%s", state);
            return true;
        }
    return false;
}

/* A service has several crawls, and its own directory is that of none. */
static bool ask(struct control_client *c, char out[LIVE_STATE_SIZE],
                struct buf *why)
{
    const struct control_place *place = control_client_place(c);
    json_t *answer = NULL, *one;
    bool found = false;
    size_t i;

    if (place->service && place->crawl == NULL)
        return false;
    if (control_client_ask(c, "GET", "/v1/crawls", NULL, &answer, why) !=
        STATUS_OK)
        return false;
    json_array_foreach(json_object_get(answer, "crawls"), i, one)
    {
        if (!found && is_meant(one, place->crawl))
            found = take_state(one, out);
    }
    json_decref(answer);
    return found;
}

bool live_state(const char *dir, char out[LIVE_STATE_SIZE])
{
    const struct control_options o = {.timeout_ms = PATIENCE_MS};
    struct control_client *c = NULL;
    struct buf why;
    bool found;

    buf_init(&why, (size_t)64 << 10);
    found = control_client_open(&c, dir, &o, &why) == STATUS_OK &&
            ask(c, out, &why);
    control_client_free(c);
    buf_fini(&why);
    return found;
}
