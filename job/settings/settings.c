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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/kafka/kafka_address.h"
#include "base/logger.h"
#include "base/mem.h"
#include "config/config.h"
#include "crawler/html/link_values.h"

/* ---- the settings of a crawl in a cluster ----
 *
 * A shard is a whole crawl, so only what needs to know all shards is refused.
 */

struct refusal {
    const char *name, *why;
};

static const struct refusal refused[] = {
    {"queue-key", "addresses are not divided among shards"},
    {"once", "a worker keeps its settings"},
    {"retry", "urlweir retry kafka://HOST/NAME does that"},
};

/* What is kept by each worker for itself: secrets, and files. */
static const char *const kept_by_workers[] = {"header",       "header-host",
                                              "cookie",       "cookies",
                                              "auth",         "bearer",
                                              "netrc",        "cert",
                                              "key",          "proxy",
                                              "block-filter", "block-exact"};

/* Those that are set, or only those that are not. */
static void name_kept(const struct crawl_settings *s, bool set,
                      const char *among, const char *before, struct buf *out)
{
    struct crawl_settings none;
    char word[32];

    settings_init(&none);
    for (size_t i = 0; i < sizeof kept_by_workers / sizeof *kept_by_workers;
         i++) {
        const struct option_spec *o =
            &crawl_options.spec[settings_index(kept_by_workers[i])];

        snprintf(word, sizeof word, " %s ", o->name);
        if (option_equal(o, s, &none) != set &&
            (among == NULL || strstr(among, word) != NULL))
            buf_addf(out, "%s%s ", before, o->name);
    }
    settings_fini(&none);
}

void cluster_settings_kept(const struct crawl_settings *s, struct buf *names)
{
    name_kept(s, true, NULL, "", names);
}

void cluster_settings_lack(const struct crawl_settings *s, struct bytes names,
                           struct buf *lacking)
{
    struct buf among;

    buf_init(&among, 4096);
    buf_add_char(&among, ' ');
    buf_add_bytes(&among, names);
    name_kept(s, false, buf_str(&among), "--", lacking);
    buf_fini(&among);
}

bool cluster_settings_are_own(const struct option_spec *o)
{
    return (o->flags & (OPTION_OF_WORKER | OPTION_OF_RUN | OPTION_LINE_ONLY)) !=
           0;
}

enum status cluster_settings_take(struct bytes text, struct crawl_settings *s,
                                  struct buf *why)
{
    struct crawl_settings all;
    enum status st;

    settings_init(&all);
    st = config_read(&crawl_options, &all, text, "the settings in the cluster",
                     OPTION_FROM_CRAWL, why);
    for (size_t i = 0; st == STATUS_OK && i < crawl_options.count; i++)
        if (!cluster_settings_are_own(&crawl_options.spec[i]))
            option_assign(&crawl_options, i, s, &all, OPTION_FROM_CRAWL);
    /* A file is a worker's, a topic is the crawl's. */
    if (st == STATUS_OK && s->jsonl == NULL && all.jsonl != NULL &&
        kafka_address_is_url(all.jsonl))
        option_assign(&crawl_options, settings_index("jsonl"), s, &all,
                      OPTION_FROM_CRAWL);
    settings_fini(&all);
    return st;
}

const char *cluster_settings_foreign(const struct crawl_settings *s)
{
    for (size_t i = 0; i < crawl_options.count; i++)
        if (!cluster_settings_are_own(&crawl_options.spec[i]) &&
            option_given(&crawl_options, i, s))
            return crawl_options.spec[i].name;
    return NULL;
}

const char *cluster_settings_changed(const struct crawl_settings *before,
                                     const struct crawl_settings *after)
{
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];

        if (!cluster_settings_are_own(o) && !option_equal(o, before, after))
            return o->name;
    }
    return NULL;
}

static enum status refuse_some(const struct crawl_settings *s,
                               struct buf *error)
{
    struct crawl_settings none;
    enum status st = STATUS_OK;

    settings_init(&none);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refusal *r = &refused[i];

        if (option_equal(&crawl_options.spec[settings_index(r->name)], s,
                         &none))
            continue;
        buf_addf(error, "--%s does not work with --cluster; leave it out",
                 r->name);
        buf_addf(error, " (%s)", r->why);
        st = STATUS_ARG;
        break;
    }
    settings_fini(&none);
    return st;
}

enum status cluster_settings_check(const struct crawl_settings *s,
                                   struct buf *error)
{
    struct kafka_address where;
    struct buf why;
    enum status st;

    if (s->cluster == NULL && s->since != NULL &&
        kafka_address_is_url(s->since)) {
        buf_add_str(error, "--since kafka://HOST/NAME is for a crawl with "
                           "--cluster; name the directory of an earlier crawl");
        return STATUS_ARG;
    }
    if (s->cluster == NULL)
        return STATUS_OK;
    buf_init(&why, 1024);
    st = kafka_address_read(&where, s->cluster, &why);
    if (st != STATUS_OK) {
        buf_addf(error, "--cluster: %s", buf_str(&why));
        st = STATUS_ARG;
    }
    buf_fini(&why);
    if (st == STATUS_OK)
        st = refuse_some(s, error);
    if (st == STATUS_OK && s->since != NULL &&
        !kafka_address_is_url(s->since)) {
        buf_addf(error,
                 "--since with --cluster knows a crawl in Kafka, kafka://HOST/"
                 "NAME; `urlweir import --from urlweir %s --cluster "
                 "kafka://HOST/NAME` brings it there",
                 s->since);
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && s->jsonl != NULL && strcmp(s->jsonl, "-") == 0) {
        buf_add_str(error, "--jsonl - does not work with --cluster; each shard "
                           "has its own lines: name a file or a topic");
        st = STATUS_ARG;
    }
    if (st == STATUS_OK && s->output == NULL) {
        buf_add_str(error, "--cluster needs -o DIR, where this worker keeps "
                           "what it fetches");
        st = STATUS_ARG;
    }
    return st;
}

/* ---- which kinds of links a crawl follows ---- */

static uint32_t kinds_of(const struct option_list *l)
{
    uint32_t set = 0;
    enum link_kind k;

    for (size_t i = 0; i < l->count; i++)
        if (link_kind_of_name(bytes_of_str(l->item[i]), &k))
            set |= LINK_BIT(k);
    return set;
}

uint32_t settings_link_kinds(const struct crawl_settings *s)
{
    uint32_t set = kinds_of(&s->follow);

    if (s->check)
        return LINK_BIT(LINK_REDIRECT);
    if (s->assets != ASSETS_OFF)
        set |= LINK_SET_ASSETS;
    set &= ~kinds_of(&s->ignore);
    if (s->sitemap == SITEMAPS_ONLY)
        set = LINK_BIT(LINK_SITEMAP);
    if (s->sitemap == SITEMAPS_OFF)
        set &= ~LINK_BIT(LINK_SITEMAP);
    return set | LINK_BIT(LINK_REDIRECT);
}

/* ---- which trap rules a crawl goes by, and their thresholds ---- */

#define THRESHOLD_MOST 1000000

bool settings_trap(const char *text, enum trap_rule *rule, uint32_t *threshold)
{
    const char *eq = strchr(text, '=');
    uint64_t n;

    if (eq == NULL ||
        !trap_rule_find(bytes_of(text, (size_t)(eq - text)), rule))
        return false;
    if (strcmp(eq + 1, "off") == 0) {
        *threshold = 0;
        return true;
    }
    if (!bytes_number(bytes_of_str(eq + 1), THRESHOLD_MOST, &n) || n == 0)
        return false;
    *threshold = (uint32_t)n;
    return true;
}

struct frontier_traps settings_traps(const struct crawl_settings *s)
{
    struct frontier_traps out = {.policy = s->traps,
                                 .exempt = LINK_BIT(LINK_LISTED)};
    enum trap_rule rule;
    uint32_t threshold;

    for (unsigned r = 0; r < TRAP_RULES_; r++)
        out.threshold[r] = trap_rule_default((enum trap_rule)r);
    for (size_t i = 0; i < s->trap.count; i++)
        if (settings_trap(s->trap.item[i], &rule, &threshold))
            out.threshold[rule] = threshold;
    return out;
}

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

/* ---- settings as JSON ---- */

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

/* ---- how --memory is divided ---- */

#define MIB        (UINT64_C(1) << 20)
#define LEAST_REST (24 * MIB)
#define LEAST_IDLE (4 * MIB) /* for connections */
#define BODIES     4         /* their part is one in so many */

struct memory_plan memory_plan(uint64_t limit, bool filter)
{
    uint64_t rest = limit / 8 > LEAST_REST ? limit / 8 : LEAST_REST;
    struct memory_plan p = {.limit = limit,
                            .frontier = limit - limit / BODIES - rest,
                            .bodies = limit / BODIES,
                            .rest = rest,
                            .connections = LEAST_IDLE};
    const struct seen_store_options o = {.use_filter = filter,
                                         .memory = p.frontier};

    p.store = seen_store_shares(&o);
    return p;
}

uint64_t memory_plan_least(uint64_t body)
{
    return body > UINT64_MAX / BODIES ? UINT64_MAX : body * BODIES;
}
