/* SPDX-License-Identifier: MIT */
/*
 * settings.c - the settings of a crawl: defaults, its settings file, and what a
 * resume changed.
 *
 * All settings of a crawl are saved, defaults included, so that a release with
 * other defaults resumes it unchanged. Secrets are in a separate file, so that
 * the other one can be shown, copied and kept in a repository.
 */
#include "job/settings/settings.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/logger.h"
#include "base/mem.h"
#include "config/config.h"

void settings_init(struct crawl_settings *s)
{
    memset(s, 0, sizeof *s);
    option_defaults(&crawl_options, s);
}

void settings_fini(struct crawl_settings *s)
{
    option_fini(&crawl_options, s);
}

size_t settings_index(const char *name)
{
    size_t i = option_find(&crawl_options, bytes_of_str(name));

    assert(i < crawl_options.count);
    return i;
}

/* ---- the file ---- */

bool settings_are_in(const char *dir)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/" SETTINGS_FILE, dir);
    return access(path, F_OK) == 0;
}

void settings_path(const char *dir, struct buf *out)
{
    buf_addf(out, "%s/" SETTINGS_FILE, dir);
}

/* ---- writing ---- */

void settings_to_yaml(const struct crawl_settings *s, struct buf *out)
{
    char now[CLOCK_ISO_SIZE];

    clock_iso(now, clock_wall_ms());
    buf_addf(
        out,
        "# The settings of this crawl: urlweir %s, %s.\n"
        "# This file is written anew, without comments of yours, when\n"
        "# `urlweir resume` or a call over HTTP changes a setting. What you\n"
        "# change here holds from the next `urlweir resume` on.\n",
        URLWEIR_VERSION, now);
    config_write(&crawl_options, s, false, out);
}

bool settings_has_secrets(const struct crawl_settings *s)
{
    struct crawl_settings none;
    bool found = false;

    settings_init(&none);
    for (size_t i = 0; i < crawl_options.count; i++)
        if ((crawl_options.spec[i].flags & OPTION_SECRET) != 0)
            found |= !option_equal(&crawl_options.spec[i], s, &none);
    settings_fini(&none);
    return found;
}

static enum status save(const char *dir, const char *name, struct bytes text,
                        enum status (*replace)(const char *, struct bytes))
{
    struct buf path;
    enum status st;

    buf_init(&path, 8192);
    buf_addf(&path, "%s/%s", dir, name);
    st = replace(buf_str(&path), text);
    buf_fini(&path);
    return st;
}

/* An empty text removes the file. */
static enum status replace_secrets(const char *path, struct bytes text)
{
    if (text.len > 0)
        return file_replace_private(path, text);
    return unlink(path) == 0 || errno == ENOENT ? STATUS_OK
                                                : status_of_errno(errno);
}

/* Secrets first: after a crash in between, the crawl has too many secrets
 * rather than too few. */
static enum status save_both(const char *dir, const struct buf *text,
                             const struct buf *secrets)
{
    enum status st =
        save(dir, SETTINGS_SECRETS, buf_bytes(secrets), replace_secrets);

    return st == STATUS_OK
               ? save(dir, SETTINGS_FILE, buf_bytes(text), file_replace)
               : st;
}

enum status settings_save(const struct crawl_settings *s)
{
    struct buf text, secrets;
    enum status st;

    buf_init(&text, CONFIG_CEILING);
    buf_init(&secrets, CONFIG_CEILING);
    settings_to_yaml(s, &text);
    if (settings_has_secrets(s))
        config_write(&crawl_options, s, true, &secrets);
    st = buf_failed(&text);
    if (st == STATUS_OK)
        st = buf_failed(&secrets);
    if (st == STATUS_OK)
        st = save_both(s->output, &text, &secrets);
    else
        log_error("the settings are too long to be kept",
                  "most=%zu bytes; give many seeds with --input",
                  CONFIG_CEILING);
    buf_fini(&text);
    buf_fini(&secrets);
    return st;
}

enum status settings_load_secrets(struct crawl_settings *s, const char *dir,
                                  struct buf *error)
{
    struct buf path, why;
    enum status st;

    buf_init(&path, 8192);
    buf_init(&why, 65536);
    buf_addf(&path, "%s/" SETTINGS_SECRETS, dir);
    st =
        config_load(&crawl_options, s, buf_str(&path), OPTION_FROM_CRAWL, &why);
    if (st == STATUS_NOT_FOUND)
        st = STATUS_OK;
    else
        buf_add_bytes(error, buf_bytes(&why));
    buf_fini(&path);
    buf_fini(&why);
    return st;
}

enum status settings_load(struct crawl_settings *s, const char *dir,
                          struct buf *error)
{
    struct buf path;
    enum status st;

    buf_init(&path, 8192);
    settings_path(dir, &path);
    st = config_load(&crawl_options, s, buf_str(&path), OPTION_FROM_CRAWL,
                     error);
    if (st == STATUS_OK)
        st = settings_load_secrets(s, dir, error);
    free(s->output);
    s->output = xstrdup(dir);
    buf_fini(&path);
    return st;
}

/* ---- two sets of settings ---- */

static bool differs(size_t i, const struct crawl_settings *a,
                    const struct crawl_settings *b)
{
    const struct option_spec *spec = &crawl_options.spec[i];

    return (spec->flags & (OPTION_OF_RUN | OPTION_LINE_ONLY)) == 0 &&
           !option_equal(spec, a, b);
}

bool settings_differ(const struct crawl_settings *a,
                     const struct crawl_settings *b)
{
    size_t i = 0;

    while (i < crawl_options.count && !differs(i, a, b))
        i++;
    return i < crawl_options.count;
}

const char *settings_fixed_change(const struct crawl_settings *before,
                                  const struct crawl_settings *after)
{
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *spec = &crawl_options.spec[i];

        if ((spec->flags & OPTION_ON_START) != 0 &&
            !option_equal(spec, before, after))
            return spec->name;
    }
    return NULL;
}

static void add_change(struct buf *out, const struct option_spec *spec,
                       const struct crawl_settings *before,
                       const struct crawl_settings *after)
{
    struct buf raw;

    if ((spec->flags & OPTION_SECRET) != 0) {
        buf_add_str(out, "changed");
        return;
    }
    buf_init(&raw, CONFIG_CEILING);
    option_show(spec, before, &raw);
    buf_add_str(&raw, " -> ");
    option_show(spec, after, &raw);
    format_terminal(out, buf_bytes(&raw));
    buf_fini(&raw);
}

unsigned settings_diff(FILE *to, const struct crawl_settings *before,
                       const struct crawl_settings *after)
{
    struct buf change;
    unsigned n = 0;

    buf_init(&change, 8 * CONFIG_CEILING);
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *spec = &crawl_options.spec[i];

        if (!differs(i, before, after))
            continue;
        buf_clear(&change);
        add_change(&change, spec, before, after);
        fprintf(to, "%s: %s\n", spec->name, buf_str(&change));
        n++;
    }
    buf_fini(&change);
    return n;
}

/* ---- values derived from settings ---- */

#define MAX_BODY      ((uint64_t)4 << 20)
#define MAX_BODY_WARC ((uint64_t)100 << 20) /* archives want whole bodies */

uint64_t settings_max_body(const struct crawl_settings *s)
{
    if (s->max_body_bytes != MAX_BODY_AUTO)
        return s->max_body_bytes;
    if (!s->warc)
        return MAX_BODY;
    return s->memory_bytes / 4 < MAX_BODY_WARC ? s->memory_bytes / 4
                                               : MAX_BODY_WARC;
}

const char *settings_filter_kind(const struct crawl_settings *s)
{
    return s->filter == FILTER_NONE
               ? NULL
               : crawl_options.spec[settings_index("filter")].words[s->filter];
}

void settings_user_agent(const struct crawl_settings *s, struct buf *out)
{
    const char *agent = s->user_agent;

    if (agent == NULL)
        agent = "urlweir/" URLWEIR_VERSION;
    buf_add_str(out, agent);
    if (s->contact != NULL && strstr(agent, s->contact) == NULL)
        buf_addf(out, " (+%s)", s->contact);
}

void settings_product_token(const struct crawl_settings *s, struct buf *out)
{
    const char *p = s->user_agent != NULL ? s->user_agent : "urlweir";

    for (; ascii_is_letter(*p) || *p == '_' || *p == '-'; p++)
        buf_add_char(out, ascii_lower(*p));
}
