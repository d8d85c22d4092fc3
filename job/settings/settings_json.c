/* SPDX-License-Identifier: MIT */
/* settings_json.c - settings as JSON. */
#include "job/settings/settings_json.h"

#include "job/settings/settings.h"

static bool is_shown(const struct option_spec *o)
{
    return (o->flags & (OPTION_LINE_ONLY | OPTION_OF_RUN | OPTION_SECRET)) == 0;
}

static json_t *list_json(const struct option_spec *o,
                         const struct crawl_settings *s)
{
    json_t *list = json_array();
    struct buf text;

    buf_init(&text, (size_t)1 << 20);
    for (size_t k = 0; k < option_items(o, s); k++) {
        buf_clear(&text);
        option_text(o, s, k, &text);
        json_array_append_new(list, json_stringn(buf_str(&text), text.len));
    }
    buf_fini(&text);
    return list;
}

static json_t *value_json(const struct option_spec *o,
                          const struct crawl_settings *s)
{
    const void *at = (const char *)s + o->at;
    struct buf text;
    json_t *v;

    if (o->type == OPTION_LIST)
        return list_json(o, s);
    if (o->type == OPTION_FLAG)
        return json_boolean(*(const bool *)at);
    if (o->type == OPTION_FRACTION)
        return json_real(*(const double *)at);
    if (o->type == OPTION_COUNT &&
        (o->bare == NULL || (double)*(const int64_t *)at >= o->min))
        return json_integer(*(const int64_t *)at);
    buf_init(&text, (size_t)1 << 20);
    option_text(o, s, 0, &text);
    v = o->type == OPTION_TEXT && text.len == 0
            ? json_null()
            : json_stringn(buf_str(&text), text.len);
    buf_fini(&text);
    return v;
}

json_t *settings_json(const struct crawl_settings *s)
{
    json_t *all = json_object();

    for (size_t i = 0; i < crawl_options.count; i++)
        if (is_shown(&crawl_options.spec[i]))
            json_object_set_new(all, crawl_options.spec[i].name,
                                value_json(&crawl_options.spec[i], s));
    return all;
}

json_t *settings_secrets_json(const struct crawl_settings *s)
{
    json_t *names = json_array();
    struct crawl_settings none;

    settings_init(&none);
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];

        if ((o->flags & OPTION_SECRET) != 0 && !option_equal(o, s, &none))
            json_array_append_new(names, json_string(o->name));
    }
    settings_fini(&none);
    return names;
}

/* null for a secret. */
static json_t *shown_json(const struct option_spec *o,
                          const struct crawl_settings *s)
{
    return is_shown(o) ? value_json(o, s) : json_null();
}

json_t *settings_changed_json(const struct crawl_settings *a,
                              const struct crawl_settings *b)
{
    json_t *all = json_array();

    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];

        if ((o->flags & (OPTION_LINE_ONLY | OPTION_OF_RUN)) == 0 &&
            !option_equal(o, a, b))
            json_array_append_new(all,
                                  json_pack("{s:s, s:o, s:o}", "name", o->name,
                                            "before", shown_json(o, a), "after",
                                            shown_json(o, b)));
    }
    return all;
}
