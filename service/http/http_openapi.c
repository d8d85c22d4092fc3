/* SPDX-License-Identifier: MIT */
/*
 * http_openapi.c - serves the embedded document, with the settings of a crawl
 * from their table: a document that was written by hand would lack the next
 * setting, and could not say that others do not exist.
 */
#include "service/http/http_openapi.h"

#include <jansson.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "job/crawl_jobs/crawl_jobs.h"
#include "service/http/http_route.h"

/* ---- the schema of a setting ---- */

static json_t *is_switch(void)
{
    return json_pack("{s:[{s:s},{s:s,s:s}]}", "anyOf", "type", "boolean",
                     "type", "string", "pattern",
                     "^([Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]|"
                     "[Ff][Aa][Ll][Ss][Ee]|[Nn][Oo]|[Oo][Ff][Ff])$");
}

static json_t *is_word(const struct option_spec *o)
{
    json_t *words = json_array();

    for (size_t i = 0; o->words[i] != NULL; i++)
        json_array_append_new(words, json_string(o->words[i]));
    if ((o->flags & OPTION_SWITCH) == 0)
        return json_pack("{s:o}", "enum", words);
    return json_pack("{s:[{s:o},o]}", "anyOf", "enum", words, is_switch());
}

/* What crawl_job_json.c takes for it: nothing else, though not all of this. */
static json_t *value_schema(const struct option_spec *o)
{
    switch (o->type) {
    case OPTION_FLAG:
        return is_switch();
    case OPTION_CHOICE:
        return is_word(o);
    case OPTION_COUNT:
        return json_pack("{s:[s,s],s:i}", "type", "integer", "string",
                         "minimum", 0);
    case OPTION_SIZE:
    case OPTION_TIME:
    case OPTION_FRACTION:
        return json_pack("{s:[s,s],s:i}", "type", "number", "string", "minimum",
                         0);
    case OPTION_TEXT:
        return json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean");
    case OPTION_LIST:
        return json_pack("{s:[s,s,s,s],s:{s:s}}", "type", "array", "string",
                         "number", "boolean", "items", "type", "string");
    }
    return NULL;
}

static json_t *settings_schema(void)
{
    json_t *all = json_object();

    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];
        json_t *one;

        if (!crawl_jobs_takes(o))
            continue;
        one = value_schema(o);
        json_object_set_new(one, "description", json_string(o->help));
        if (o->fallback != NULL)
            json_object_set_new(one, "default", json_string(o->fallback));
        json_object_set_new(all, o->name, one);
    }
    return all;
}

/* ---- the document ---- */

static char *document; /* for the process's life */

static void make_document(void)
{
    struct bytes text = http_openapi();
    json_t *whole = json_loadb(text.at, text.len, 0, NULL), *settings = NULL;

    if (json_unpack(whole, "{s:{s:{s:o}}}", "components", "schemas", "Settings",
                    &settings) == 0)
        json_object_set_new(settings, "properties", settings_schema());
    document = json_dumps(whole, JSON_INDENT(1));
    json_decref(whole);
}

struct bytes http_openapi_document(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_document);
    return bytes_of_str(document);
}

void http_openapi_ask(struct http_request *r)
{
    struct bytes text = http_openapi_document();

    if (http_members(r, r->in, -1, NULL, 0))
        http_answer_text(r, "application/json", xstrndup(text.at, text.len),
                         text.len);
}
