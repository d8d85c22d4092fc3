/* SPDX-License-Identifier: MIT */
/*
 * config.c - settings in YAML, read and written against a table of options.
 *
 * Reads libyaml's events, not its document tree: events keep anchors and tags
 * visible, so that they can be refused, and nothing is stored that is not used.
 * The grammar is so small that reading it is three functions deep: document,
 * entry, list.
 *
 *     document:  { entry ... }
 *     entry:     key  value | [ value ... ]
 */
#include "config/config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/file/file.h"
#include "base/mem.h"

#define KEY_SHOWN 80 /* octets of an unknown key that are shown */

struct reader {
    const struct option_table *table;
    void *settings;
    struct bytes yaml;
    const char *name;
    enum option_source from;
    config_refuse *refuse; /* NULL: refuses nothing */
    struct buf *error;
    yaml_parser_t parser;
    size_t *line_of; /* for each option the line that set it, 0: none */
};

/* ---- errors ---- */

static enum status fail(struct reader *r, yaml_mark_t at, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

static enum status fail(struct reader *r, yaml_mark_t at, const char *fmt, ...)
{
    char what[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    buf_addf(r->error, "%s:%zu:%zu: %s", r->name, at.line + 1, at.column + 1,
             what);
    return STATUS_FORMAT;
}

/* libyaml's reader errors have only a byte offset. */
static yaml_mark_t mark_of_offset(const struct reader *r, size_t offset)
{
    yaml_mark_t m = {0};

    for (size_t i = 0; i < offset && i < r->yaml.len; i++) {
        m.column++;
        if (r->yaml.at[i] == '\n') {
            m.line++;
            m.column = 0;
        }
    }
    return m;
}

static enum status fail_as_parser(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;

    if (p->error == YAML_MEMORY_ERROR) {
        buf_addf(r->error, "%s: out of memory", r->name);
        return STATUS_NOMEM;
    }
    if (p->error == YAML_READER_ERROR)
        return fail(r, mark_of_offset(r, p->problem_offset),
                    "not UTF-8 text (%s)", p->problem);
    return fail(r, p->problem_mark, "not YAML: %s%s%s",
                p->context != NULL ? p->context : "",
                p->context != NULL ? ", " : "",
                p->problem != NULL ? p->problem : "unknown error");
}

/* ---- events ---- */

static bool has_properties(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return true;
    case YAML_SCALAR_EVENT:
        return e->data.scalar.anchor != NULL || e->data.scalar.tag != NULL;
    case YAML_SEQUENCE_START_EVENT:
        return e->data.sequence_start.anchor != NULL ||
               e->data.sequence_start.tag != NULL;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor != NULL ||
               e->data.mapping_start.tag != NULL;
    default:
        return false;
    }
}

/* On STATUS_OK the caller deletes *e. */
static enum status next(struct reader *r, yaml_event_t *e)
{
    if (!yaml_parser_parse(&r->parser, e))
        return fail_as_parser(r);
    if (has_properties(e)) {
        enum status st = fail(r, e->start_mark,
                              "anchors (&), aliases (*) and tags (!) are not "
                              "supported; quote the value if it begins like "
                              "one");

        yaml_event_delete(e);
        return st;
    }
    return STATUS_OK;
}

static struct bytes scalar(const yaml_event_t *e)
{
    return bytes_of(e->data.scalar.value, e->data.scalar.length);
}

/* ---- one entry ---- */

static enum status find_key(struct reader *r, const yaml_event_t *e,
                            size_t *option)
{
    struct bytes key = scalar(e);
    size_t i = option_find(r->table, key);
    bool alike;
    const char *near;

    if (i == r->table->count) {
        near = option_nearest(r->table, key, OPTION_LINE_ONLY, &alike);
        return fail(r, e->start_mark, "no setting '%.*s'; %s '%s'%s",
                    (int)(key.len < KEY_SHOWN ? key.len : KEY_SHOWN), key.at,
                    alike ? "did you mean" : "the nearest is", near,
                    alike ? "?" : "");
    }
    if ((r->table->spec[i].flags & OPTION_LINE_ONLY) != 0)
        return fail(r, e->start_mark,
                    "'%s' can be given on the command line "
                    "only",
                    r->table->spec[i].name);
    if (r->line_of[i] != 0)
        return fail(r, e->start_mark, "'%s' was already set in line %zu",
                    r->table->spec[i].name, r->line_of[i]);
    r->line_of[i] = e->start_mark.line + 1;
    *option = i;
    return STATUS_OK;
}

static enum status set_value(struct reader *r, size_t i, const yaml_event_t *e)
{
    const char *name = r->table->spec[i].name;
    const char *refused =
        r->refuse != NULL ? r->refuse(&r->table->spec[i], scalar(e)) : NULL;
    struct buf why;
    enum status st;

    if (refused != NULL)
        return fail(r, e->start_mark, "%s: %s", name, refused);
    if (e->data.scalar.length == 0 && r->table->spec[i].type == OPTION_LIST)
        return fail(r, e->start_mark, "%s: an item is empty", name);
    if (e->data.scalar.length == 0 &&
        e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return fail(r, e->start_mark,
                    "'%s' has no value; write \"\" for an empty one", name);
    buf_init(&why, 1000);
    st = option_set(r->table, i, r->settings, scalar(e), r->from, &why);
    if (st != STATUS_OK)
        st = fail(r, e->start_mark, "%s: %s", name, buf_str(&why));
    buf_fini(&why);
    return st;
}

static enum status read_list(struct reader *r, size_t i)
{
    yaml_event_t e;
    enum status st;
    bool end = false;

    option_clear(r->table, i, r->settings, r->from);
    while (!end) {
        st = next(r, &e);
        if (st != STATUS_OK)
            return st;
        end = e.type == YAML_SEQUENCE_END_EVENT;
        if (e.type == YAML_SCALAR_EVENT)
            st = set_value(r, i, &e);
        else if (!end)
            st = fail(r, e.start_mark,
                      "%s: it takes a list of plain values, "
                      "not of %s",
                      r->table->spec[i].name,
                      e.type == YAML_MAPPING_START_EVENT ? "`name: value`"
                                                         : "lists");
        yaml_event_delete(&e);
        if (st != STATUS_OK)
            return st;
    }
    return STATUS_OK;
}

static enum status read_value(struct reader *r, size_t i)
{
    const struct option_spec *s = &r->table->spec[i];
    bool list = s->type == OPTION_LIST;
    yaml_event_t e;
    enum status st = next(r, &e);

    if (st != STATUS_OK)
        return st;
    if (e.type == YAML_SEQUENCE_START_EVENT && list)
        st = read_list(r, i);
    else if (e.type == YAML_SCALAR_EVENT && !list)
        st = set_value(r, i, &e);
    else if (list)
        st = fail(r, e.start_mark, "%s: takes a list, as in `%s: [%s]`",
                  s->name, s->name, s->arg);
    else
        st = fail(r, e.start_mark, "%s: takes one value, not a %s", s->name,
                  e.type == YAML_SEQUENCE_START_EVENT ? "list" : "mapping");
    yaml_event_delete(&e);
    return st;
}

/* ---- the document ---- */

static enum status read_entries(struct reader *r)
{
    for (;;) {
        yaml_event_t e;
        size_t i = 0;
        enum status st = next(r, &e);
        bool end;

        if (st != STATUS_OK)
            return st;
        end = e.type == YAML_MAPPING_END_EVENT;
        if (e.type == YAML_SCALAR_EVENT)
            st = find_key(r, &e, &i);
        else if (!end)
            st = fail(r, e.start_mark, "expected the name of a setting");
        yaml_event_delete(&e);
        if (st != STATUS_OK || end)
            return st;
        st = read_value(r, i);
        if (st != STATUS_OK)
            return st;
    }
}

/* Reads the only document: a mapping, or nothing. */
static enum status read_root(struct reader *r)
{
    yaml_event_t e;
    enum status st = next(r, &e);

    if (st != STATUS_OK)
        return st;
    if (e.type == YAML_MAPPING_START_EVENT)
        st = read_entries(r);
    else if (e.type != YAML_SCALAR_EVENT || scalar(&e).len > 0)
        st = fail(r, e.start_mark,
                  "expected settings, one a line, such as `depth: 3`");
    yaml_event_delete(&e);
    return st;
}

static enum status read_stream(struct reader *r)
{
    int documents = 0;

    for (;;) {
        yaml_event_t e;
        enum status st = next(r, &e);
        yaml_event_type_t type;
        yaml_mark_t at;

        if (st != STATUS_OK)
            return st;
        type = e.type;
        at = e.start_mark;
        yaml_event_delete(&e);
        if (type == YAML_STREAM_END_EVENT)
            return STATUS_OK;
        if (type != YAML_DOCUMENT_START_EVENT)
            continue; /* the stream's start, a document's end */
        if (documents++ > 0)
            return fail(r, at, "a second YAML document; a file has one");
        st = read_root(r);
        if (st != STATUS_OK)
            return st;
    }
}

enum status config_read(const struct option_table *t, void *settings,
                        struct bytes yaml, const char *name,
                        enum option_source from, struct buf *error)
{
    return config_read_but(t, settings, yaml, name, from, NULL, error);
}

enum status config_read_but(const struct option_table *t, void *settings,
                            struct bytes yaml, const char *name,
                            enum option_source from, config_refuse *refuse,
                            struct buf *error)
{
    struct reader r = {.table = t,
                       .settings = settings,
                       .yaml = yaml,
                       .name = name,
                       .from = from,
                       .refuse = refuse,
                       .error = error};
    enum status st;

    if (yaml.len > CONFIG_CEILING) {
        buf_addf(error, "%s: longer than %zu bytes", name, CONFIG_CEILING);
        return STATUS_LIMIT;
    }
    if (!yaml_parser_initialize(&r.parser)) {
        buf_addf(error, "%s: out of memory", name);
        return STATUS_NOMEM;
    }
    r.line_of = xcalloc(t->count, sizeof *r.line_of);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)yaml.at,
                                 yaml.len);
    st = read_stream(&r);
    free(r.line_of);
    yaml_parser_delete(&r.parser);
    return st;
}

enum status config_load(const struct option_table *t, void *settings,
                        const char *path, enum option_source from,
                        struct buf *error)
{
    struct buf text;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    st = file_read(path, &text);
    if (st == STATUS_OK)
        st = config_read(t, settings, bytes_of(buf_str(&text), text.len), path,
                         from, error);
    else if (st == STATUS_LIMIT)
        buf_addf(error, "%s: longer than %zu bytes", path, CONFIG_CEILING);
    else
        buf_addf(error, "%s: %s", path,
                 st == STATUS_IO ? "cannot be read" : status_text(st));
    buf_fini(&text);
    return st;
}

/* ---- writing ---- */

/* A double-quoted scalar (YAML 1.1 section 5.7): options never hold control
 * characters, so only quotes and backslashes need escaping. */
static void add_quoted(struct buf *out, const char *text)
{
    buf_add_char(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
    buf_add_char(out, '"');
}

static void add_value(struct buf *out, const struct option_spec *s,
                      const void *settings, size_t item)
{
    struct buf text;

    if (s->type != OPTION_TEXT && s->type != OPTION_LIST) {
        option_text(s, settings, item, out);
        return;
    }
    buf_init(&text, CONFIG_CEILING);
    option_text(s, settings, item, &text);
    add_quoted(out, buf_str(&text));
    buf_fini(&text);
}

static void add_entry(struct buf *out, const struct option_spec *s,
                      const void *settings)
{
    buf_addf(out, "%s:", s->name);
    if (s->type != OPTION_LIST) {
        buf_add_char(out, ' ');
        add_value(out, s, settings, 0);
        buf_add_char(out, '\n');
        return;
    }
    buf_add_str(out, option_items(s, settings) == 0 ? " []\n" : "\n");
    for (size_t i = 0; i < option_items(s, settings); i++) {
        buf_add_str(out, "  - ");
        add_value(out, s, settings, i);
        buf_add_char(out, '\n');
    }
}

void config_write(const struct option_table *t, const void *settings,
                  bool secret, struct buf *out)
{
    const char *section = "";

    for (size_t i = 0; i < t->count; i++) {
        const struct option_spec *s = &t->spec[i];

        if ((s->flags & (OPTION_OF_RUN | OPTION_LINE_ONLY)) != 0 ||
            ((s->flags & OPTION_SECRET) != 0) != secret)
            continue;
        if (strcmp(section, s->section) != 0)
            buf_addf(out, "\n# %s\n", s->section);
        section = s->section;
        add_entry(out, s, settings);
    }
}
