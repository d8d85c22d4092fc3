/* SPDX-License-Identifier: MIT */
/*
 * cmd_set.c - `urlweir set`: change settings of a crawl while it runs.
 *
 * NAME=VALUE, with the names of a file of settings. Of a list each value is
 * given by itself, and all together replace the list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "cli/command.h"
#include "cli/steer/steer.h"
#include "job/settings/options.h"

/* clang-format off */
static const struct option_spec specs[] = {
    STEER_CRAWL_ROW,
    STEER_ROWS,
};
/* clang-format on */
static const struct option_table table =
    OPTION_TABLE(specs, struct steer_settings);

static bool is_list(struct bytes name)
{
    size_t i = option_find(&crawl_options, name);

    return i < crawl_options.count && crawl_options.spec[i].type == OPTION_LIST;
}

/* Adds NAME=VALUE to an object of settings. */
static int add(struct steer *t, json_t *in, const char *text)
{
    const char *equals = strchr(text, '=');
    struct bytes name;
    json_t *value, *list;

    if (equals == NULL || equals == text)
        return usage_error(t->usage, "'%s' is not NAME=VALUE", text);
    name = bytes_of(text, (size_t)(equals - text));
    value = json_string(equals + 1);
    if (value == NULL)
        return usage_error(t->usage, "'%s' is not UTF-8", text);
    if (!is_list(name)) {
        json_object_setn_new(in, name.at, name.len, value);
        return EXIT_DONE;
    }
    list = json_object_getn(in, name.at, name.len);
    if (list == NULL) {
        list = json_array();
        json_object_setn_new(in, name.at, name.len, list);
    }
    if (equals[1] != '\0')
        json_array_append(list, value);
    json_decref(value);
    return EXIT_DONE;
}

/* ---- printing ---- */

static void add_value(struct buf *out, const json_t *value)
{
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

    format_terminal(out, bytes_of_str(text != NULL ? text
                                      : json_is_string(value)
                                          ? json_string_value(value)
                                          : "?"));
    free(text);
}

/* "delay: 1s, now 2s" */
static void print_changed(const json_t *answer)
{
    const json_t *changed = json_object_get(answer, "changed"), *one;
    struct buf line;

    for (size_t i = 0; i < json_array_size(changed); i++) {
        one = json_array_get(changed, i);
        buf_init(&line, (size_t)1 << 20);
        add_value(&line, json_object_get(one, "name"));
        buf_add_str(&line, ": ");
        add_value(&line, json_object_get(one, "before"));
        buf_add_str(&line, ", now ");
        add_value(&line, json_object_get(one, "after"));
        puts(buf_str(&line));
        buf_fini(&line);
    }
    if (json_array_size(changed) == 0)
        puts("nothing has changed");
}

static int set(struct steer *t)
{
    json_t *in = json_object(), *out = NULL;
    int code = EXIT_DONE;

    for (size_t i = 1; code == EXIT_DONE && i < t->operands->count; i++)
        code = add(t, in, t->operands->item[i]);
    if (code == EXIT_DONE)
        code = steer_connect(t);
    if (code == EXIT_DONE)
        code = steer_choose(t, false);
    if (code == EXIT_DONE)
        code = steer_ask(t, STEER_SET, in, &out);
    json_decref(in);
    if (code != EXIT_DONE)
        return code;
    if (t->s->json)
        steer_print(out);
    else {
        print_changed(out);
        json_decref(out);
    }
    return code;
}

static int set_run(const struct usage *u, void *settings,
                   const struct option_list *operands)
{
    return steer_run(u, settings, operands, set);
}

const struct usage set_usage = {
    .name = "set",
    .synopsis = "set DIR|URL|kafka://HOST/NAME NAME=VALUE... [--crawl NAME]",
    .about =
        "Changes settings of a running crawl: delay, limit-rate-per-host, "
        "include, exclude and others, by the names of their options. A list "
        "is replaced by the values that are given, `exclude=` by none. They "
        "are kept over restarts. Of a crawl in a cluster they are for all "
        "workers, also if a worker's directory is given. What cannot change "
        "while a crawl runs is refused; nothing is changed then.",
    .table = &table,
    .least = 2,
    .most = SIZE_MAX,
    .operand = "a crawl's directory, the URL of a service, or that of a crawl "
               "in a cluster; and settings",
    .assigned = &crawl_options,
    .run = set_run,
};
