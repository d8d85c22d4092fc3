/* SPDX-License-Identifier: MIT */
/* status_settings.c - the settings of a crawl, as `urlweir status` shows them.
 */
#include "cli/status/status_settings.h"

#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "config/config.h"
#include "job/settings/settings.h"
#include "job/settings/settings_json.h"
#include "job/settings_applied.h"

/* ---- gathering ---- */

/* Returns those settings that differ from `s` and were in force when the store
 * was written last. */
static json_t *of_run(struct reader *r, const struct crawl_settings *s,
                      json_t *all)
{
    json_t *differ = json_object(), *was_all, *value;
    struct crawl_settings was;
    const char *name;
    struct buf note;
    bool there;

    buf_init(&note, CONFIG_CEILING);
    there = frontier_store_meta(r->store, "settings", &note) == STATUS_OK;
    if (there) /* not known: a copy of `s` */
        (void)settings_of_note(buf_bytes(&note), s, &was);
    buf_fini(&note);
    if (!there)
        return differ;
    was_all = settings_json(&was);
    /* cppcheck-suppress unknownMacro */
    json_object_foreach(was_all, name, value)
    {
        if (!json_equal(value, json_object_get(all, name)))
            json_object_set(differ, name, value);
    }
    json_decref(was_all);
    settings_fini(&was);
    return differ;
}

void status_set_settings(json_t *o, struct reader *r)
{
    struct crawl_settings s;
    struct buf error;
    json_t *all, *run;

    settings_init(&s);
    buf_init(&error, 65536);
    if (settings_load(&s, r->dir, &error) == STATUS_OK) {
        all = settings_json(&s);
        run = of_run(r, &s, all);
        json_object_set_new(o, "settings", all);
        json_object_set_new(o, "secrets", settings_secrets_json(&s));
        if (json_object_size(run) > 0)
            json_object_set(o, "settings_of_run", run);
        json_decref(run);
    } else {
        json_object_set_new(o, "settings_error", json_string(buf_str(&error)));
    }
    settings_fini(&s);
    buf_fini(&error);
}

/* ---- printing ---- */

static void add_value(struct buf *out, const json_t *v)
{
    const json_t *item;
    size_t i;

    if (json_is_string(v))
        format_terminal(out,
                        bytes_of(json_string_value(v), json_string_length(v)));
    else if (json_is_integer(v))
        buf_addf(out, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        buf_addf(out, "%g", json_real_value(v));
    else if (json_is_boolean(v))
        buf_add_str(out, json_is_true(v) ? "true" : "false");
    else if (json_array_size(v) == 0)
        buf_add_str(out, "none");
    json_array_foreach(v, i, item)
    {
        if (i > 0)
            buf_add_str(out, ", ");
        add_value(out, item);
    }
}

static void print_one(const json_t *o, const char *name, const json_t *value)
{
    const json_t *run =
        json_object_get(json_object_get(o, "settings_of_run"), name);
    struct buf line;

    buf_init(&line, SIZE_MAX);
    buf_addf(&line, "    %s: ", name);
    add_value(&line, value);
    if (run != NULL) {
        buf_addf(&line, " (%s: ",
                 json_object_get(o, "pid") != NULL ? "this run" : "last run");
        add_value(&line, run);
        buf_add_char(&line, ')');
    }
    puts(buf_str(&line));
    buf_fini(&line);
}

static bool is_told(const json_t *o, const json_t *defaults, const char *name,
                    const json_t *value)
{
    if (strcmp(name, "seeds") == 0 || strcmp(name, "input") == 0)
        return false;
    return !json_equal(value, json_object_get(defaults, name)) ||
           json_object_get(json_object_get(o, "settings_of_run"), name) != NULL;
}

static void print_secrets(const json_t *names)
{
    const json_t *name;
    size_t i;

    json_array_foreach(names, i, name)
    {
        printf("    %s: set, but not shown\n", json_string_value(name));
    }
}

void status_print_settings(const json_t *o)
{
    const json_t *error = json_object_get(o, "settings_error");
    struct crawl_settings none;
    const char *name;
    json_t *defaults, *value;
    struct buf safe;

    if (error != NULL) {
        buf_init(&safe, SIZE_MAX);
        format_terminal(&safe, bytes_of_str(json_string_value(error)));
        printf("  settings cannot be read: %s\n", buf_str(&safe));
        buf_fini(&safe);
        return;
    }
    settings_init(&none);
    defaults = settings_json(&none);
    puts("  settings that differ from the defaults");
    json_object_foreach(json_object_get(o, "settings"), name, value)
    {
        if (is_told(o, defaults, name, value))
            print_one(o, name, value);
    }
    print_secrets(json_object_get(o, "secrets"));
    json_decref(defaults);
    settings_fini(&none);
}
