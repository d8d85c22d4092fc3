/* SPDX-License-Identifier: MIT */
/*
 * crawl_jobs.c - the factory's table, files of the operator, attached crawls,
 * and what a job that is open is told.
 */
#include "job/crawl_jobs/crawl_jobs.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/format.h"
#include "base/mem.h"
#include "config/config.h"
#include "frontier/frontier.h"
#include "frontier/outcome.h"
#include "frontier/url/url_form.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/seed_sink.h"
#include "job/settings/seeds.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"
#include "storage/rows/page_store.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_reader.h"

/* ---- which fetch rows name a WARC record that is not there ---- */

#define NAME_MOST 4096

struct lost_records {
    const char *dir;
    struct buf name; /* of the file that was looked at last, */
    int fd;          /* and itself; -1: it is not there */
};

/* borrowed */
static struct lost_records *lost_records_new(const char *dir)
{
    struct lost_records *l = xcalloc(1, sizeof *l);

    l->dir = dir;
    l->fd = -1;
    buf_init(&l->name, NAME_MOST);
    return l;
}

/* NULL is fine */
static void lost_records_free(struct lost_records *l)
{
    if (l == NULL)
        return;
    if (l->fd >= 0)
        close(l->fd);
    buf_fini(&l->name);
    free(l);
}

/* Rows are asked about in their order, so many in a row name one file. */
static bool has_file(struct lost_records *l, struct bytes name)
{
    if (bytes_equal(name, buf_bytes(&l->name)))
        return l->fd >= 0;
    if (l->fd >= 0)
        close(l->fd);
    l->fd = warc_open_named(l->dir, name);
    buf_clear(&l->name);
    buf_add_bytes(&l->name, name);
    return l->fd >= 0;
}

static bool is_revisit(const struct lost_records *l, uint64_t offset)
{
    struct warc_reader *r = warc_reader_new(l->fd);
    struct warc_found found;
    bool is;

    warc_reader_seek(r, offset);
    is = warc_reader_next(r, &found) == STATUS_OK &&
         bytes_is(warc_field(found.head, "WARC-Type"), "revisit");
    warc_reader_free(r);
    return is;
}

/* For refresh_request.is_lost; `records` is a struct lost_records. A record
 * without a body is as good as lost if what it refers to is. That may be a
 * later one than the first with its body; then the page is fetched once more
 * than it has to be. */
static bool lost_records_have(void *records, const struct page_record *r)
{
    struct lost_records *l = records;

    return !has_file(l, r->file) || (r->of_lost && is_revisit(l, r->offset));
}

/* ---- changes an open crawl: seeds, URLs to fetch again, and settings ----
 *
 * A changed setting is saved before it takes effect, so that after a crash in
 * between the next start applies it. In a running crawl it is then applied:
 * frontier and limits by a task on the frontier thread, the scope by a swap
 * without stopping the fetchers, the rate in the bucket that they share.
 * Fetchers borrow all other settings as long as they run.
 */

#define SLICE 4096 /* rows examined between two turns of the crawl */

/* ---- seeds ---- */

struct seed_task {
    struct crawl_task task; /* first */
    struct crawl_job *m;
    struct seed *seeds;
    size_t n;
};

static enum status put_seeds(struct crawl_task *t, struct frontier *f,
                             int64_t now, int64_t wall_ms)
{
    struct seed_task *s = (struct seed_task *)t;

    (void)now;
    (void)wall_ms;
    return seed_sink_more(f, s->m->setup, &s->m->settings, s->seeds, s->n);
}

static json_t *seed_json(const struct seed *s)
{
    json_t *o = json_object();
    struct buf shown;

    buf_init(&shown, s->text.len + 8);
    seed_login_hide(s->text, &shown);
    json_object_set_new(o, "url", json_stringn(buf_str(&shown), shown.len));
    buf_fini(&shown);
    if (s->why != NULL) {
        json_object_set_new(o, "status", json_string("failed"));
        json_object_set_new(o, "reason", json_string(s->why));
    } else {
        json_object_set_new(o, "status",
                            json_string(s->fresh ? "ok" : "skipped"));
    }
    return o;
}

/* STATUS_ARG: one is not a string; see `why`. */
static enum status read_seeds(const json_t *urls, struct seed **seeds,
                              size_t *n, struct buf *why)
{
    *n = json_array_size(urls);
    if (!json_is_array(urls) || *n > CRAWLS_SEEDS_MOST) {
        buf_addf(why, "urls: an array of at most %d URLs", CRAWLS_SEEDS_MOST);
        return STATUS_ARG;
    }
    *seeds = xcalloc(*n, sizeof **seeds);
    for (size_t i = 0; i < *n; i++) {
        const json_t *url = json_array_get(urls, i);

        if (!json_is_string(url)) {
            buf_addf(why, "urls[%zu]: it is not a string", i);
            return STATUS_ARG;
        }
        (*seeds)[i].text =
            bytes_of(json_string_value(url), json_string_length(url));
    }
    return STATUS_OK;
}

static json_t *results_json(const struct seed *seeds, size_t n)
{
    json_t *results = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(results, seed_json(&seeds[i]));
    return json_pack("{s:o}", "results", results);
}

static enum status crawl_job_seed(struct crawl_job *m, json_t *in, json_t **out,
                                  struct buf *why)
{
    struct seed_task t = {.task = {.run = put_seeds, .durable = true}, .m = m};
    enum status st =
        read_seeds(json_object_get(in, "urls"), &t.seeds, &t.n, why);

    if (st == STATUS_OK)
        st = crawl_perform(m->crawl, &t.task);
    if (st == STATUS_OK)
        *out = results_json(t.seeds, t.n);
    else if (st == STATUS_CLOSED)
        buf_add_str(why, "the crawl is stopping");
    free(t.seeds);
    return st;
}

/* ---- URLs to fetch again ---- */

/* Performs the task until it is over, one slice after the other. */
static enum status perform_slices(struct crawl_job *m, struct crawl_task *task,
                                  const bool *over, struct buf *why)
{
    enum status st = STATUS_OK;

    while (st == STATUS_OK && !*over)
        st = crawl_perform(m->crawl, task);
    if (st == STATUS_CLOSED)
        buf_add_str(why, "the crawl is stopping");
    return st;
}

static struct bytes text_of(const json_t *in, const char *member)
{
    const json_t *text = json_object_get(in, member);

    return bytes_of(json_string_value(text), json_string_length(text));
}

struct retry_task {
    struct crawl_task task; /* first */
    struct failed_retry r;
    bool over;
};

static enum status retry_slice(struct crawl_task *task, struct frontier *f,
                               int64_t now, int64_t wall_ms)
{
    struct retry_task *t = (struct retry_task *)(void *)task;

    return frontier_retry_failed(f, &t->r, SLICE, now, wall_ms, &t->over);
}

/* No reasons, or "all": any. STATUS_ARG: `why` has the reason. The caller frees
 * the array; the JSON owns the texts. */
static enum status read_reasons(const json_t *in, const char ***out, size_t *n,
                                struct buf *why)
{
    const json_t *list = json_object_get(in, "reasons");
    bool any = false;

    *n = json_array_size(list);
    *out = xcalloc(*n + 1, sizeof **out);
    for (size_t i = 0; i < *n; i++) {
        const char *text = json_string_value(json_array_get(list, i));

        if (text != NULL && strcmp(text, "all") == 0) {
            any = true;
        } else if (text == NULL || !outcome_reason_is(text)) {
            buf_addf(why,
                     "no URL ends for the reason '%s'; `urlweir status` shows "
                     "those of a crawl, such as http_503, timeout or robots",
                     text != NULL ? text : "");
            return STATUS_ARG;
        }
        (*out)[i] = text;
    }
    if (any)
        *n = 0;
    return STATUS_OK;
}

static enum status crawl_job_retry(struct crawl_job *m, json_t *in,
                                   json_t **out, struct buf *why)
{
    struct retry_task t = {.task = {.run = retry_slice, .durable = true},
                           .r = {.host = text_of(in, "host")}};
    const char **reasons = NULL;
    enum status st = read_reasons(in, &reasons, &t.r.reason_count, why);

    t.r.reasons = reasons;
    if (st == STATUS_OK)
        st = perform_slices(m, &t.task, &t.over, why);
    if (st == STATUS_OK)
        *out = json_pack("{s:I}", "queued", (json_int_t)t.r.queued);
    free(reasons);
    free(t.r.seen);
    return st;
}

struct refresh_task {
    struct crawl_task task; /* first */
    struct refresh_request q;
    bool over;
};

static enum status refresh_slice(struct crawl_task *task, struct frontier *f,
                                 int64_t now, int64_t wall_ms)
{
    struct refresh_task *t = (struct refresh_task *)(void *)task;

    return frontier_refresh_urls(f, &t->q, SLICE, now, wall_ms, &t->over);
}

static bool is_match(const void *match, struct bytes url)
{
    return url_pattern_matches(match, url);
}

static enum status crawl_job_refresh(struct crawl_job *m, json_t *in,
                                     json_t **out, struct buf *why)
{
    const struct bytes match = text_of(in, "match");
    struct refresh_task t = {.task = {.run = refresh_slice, .durable = true}};
    const bool lost = json_is_true(json_object_get(in, "lost_archives"));
    struct url_pattern *pattern = NULL;
    struct lost_records *records = NULL;
    enum status st = STATUS_OK;

    if (lost && !m->settings.warc) {
        buf_add_str(why, "--lost-archives: the crawl writes no WARC files "
                         "(--warc)");
        return STATUS_ARG;
    }
    if (match.len > 0) {
        buf_add_str(why, "--match: ");
        st = url_pattern_new(&pattern, match, why);
    }
    if (st != STATUS_OK)
        return STATUS_ARG;
    buf_clear(why);
    if (lost)
        records = lost_records_new(m->settings.output);
    t.q = (struct refresh_request){.host = text_of(in, "host"),
                                   .wants = pattern != NULL ? is_match : NULL,
                                   .ctx = pattern,
                                   .is_lost = lost ? lost_records_have : NULL,
                                   .records = records,
                                   .now = json_is_true(
                                       json_object_get(in, "now"))};
    st = perform_slices(m, &t.task, &t.over, why);
    if (st == STATUS_OK)
        *out = json_pack("{s:I}", "dated", (json_int_t)t.q.dated);
    free(t.q.walk.seen);
    lost_records_free(records);
    url_pattern_free(pattern);
    return st;
}

/* ---- settings ---- */

enum status crawl_job_settings(void *ctx, struct crawl_job *m, const char *dir,
                               json_t **out, struct buf *why)
{
    struct crawl_settings s;
    enum status st;

    (void)ctx;
    if (m != NULL) {
        *out = json_pack("{s:o}", "settings", settings_json(&m->now));
        return STATUS_OK;
    }
    st = crawl_job_load(&s, dir, why);
    if (st == STATUS_OK) {
        *out = json_pack("{s:o}", "settings", settings_json(&s));
        settings_fini(&s);
    }
    return st;
}

/* ---- settings of a running crawl ---- */

/* A client's change of settings; `base`: see crawl_job_path. */
struct settings_call {
    const json_t *in;
    const char *base;
};

enum part {
    PART_SCOPE = 1,
    PART_RATE = 2,
    PART_LIMITS = 4,
    PART_ORDER = 8,
    PART_REFRESH = 16,
    PART_TRAPS = 32
};

static const struct {
    const char *name;
    unsigned parts;
} live[] = {
    {"scope", PART_SCOPE},
    {"depth", PART_SCOPE},
    {"include", PART_SCOPE},
    {"exclude", PART_SCOPE},
    {"max-url-len", PART_SCOPE},
    {"order", PART_ORDER},
    {"boost", PART_ORDER},
    {"first", PART_ORDER},
    {"delay", PART_RATE},
    {"random-delay", PART_RATE},
    {"adaptive", PART_RATE},
    {"max-delay", PART_RATE},
    {"max-crawl-delay", PART_RATE},
    {"limit-rate", PART_RATE},
    {"limit-rate-per-host", PART_RATE},
    {"retry-delay", PART_RATE},
    {"limit", PART_LIMITS},
    {"per-host", PART_LIMITS},
    {"per-domain", PART_LIMITS},
    {"per-host-bytes", PART_LIMITS},
    {"budget", PART_LIMITS},
    {"time", PART_LIMITS},
    {"quota", PART_LIMITS},
    {"give-up", PART_LIMITS | PART_RATE},
    {"refresh", PART_REFRESH},
    {"refresh-min", PART_REFRESH},
    {"refresh-max", PART_REFRESH},
    {"refresh-share", PART_REFRESH},
    {"keep-history", PART_REFRESH},
    {"trap", PART_TRAPS},
};

static unsigned parts_of(const char *name)
{
    for (size_t i = 0; i < sizeof live / sizeof *live; i++)
        if (strcmp(live[i].name, name) == 0)
            return live[i].parts;
    return 0;
}

/* Finds the parts that differ. STATUS_BUSY: one cannot change now. */
static enum status what_changed(const struct crawl_settings *a,
                                const struct crawl_settings *b, unsigned *parts,
                                struct buf *why)
{
    *parts = 0;
    for (size_t i = 0; i < crawl_options.count; i++) {
        const struct option_spec *o = &crawl_options.spec[i];
        unsigned part = parts_of(o->name);

        if ((o->flags & (OPTION_LINE_ONLY | OPTION_OF_RUN)) != 0 ||
            option_equal(o, a, b))
            continue;
        if (part == 0) {
            buf_addf(why,
                     "%s: it cannot change while the crawl runs; stop the "
                     "crawl, change the setting and resume",
                     o->name);
            return STATUS_BUSY;
        }
        *parts |= part;
    }
    return STATUS_OK;
}

struct change_task {
    struct crawl_task task; /* first */
    struct crawl_job *m;
    const struct crawl_settings *s;
    struct crawl_setup *made; /* made from `s` */
    struct scope *scope;      /* the next one */
    unsigned parts;
};

static enum status change_scope(struct change_task *c, struct frontier *f)
{
    struct scope *scope = c->m->setup->scope;
    enum status st = STATUS_OK;

    if (!scope_has_places_of(scope, c->scope))
        st = crawl_setup_reopen_scope(f, c->scope, c->s);
    if (st != STATUS_OK)
        return st;
    scope_become(scope, c->scope);
    c->scope = NULL;
    return STATUS_OK;
}

/* The order in force is freed with `made`, when nobody uses it any more. */
static enum status change_order(struct change_task *c, struct frontier *f)
{
    struct order *was = c->m->setup->order;

    c->m->setup->order = c->made->order;
    c->made->order = was;
    return frontier_set_order(f, c->m->setup->order);
}

static enum status change(struct crawl_task *t, struct frontier *f, int64_t now,
                          int64_t wall_ms)
{
    struct change_task *c = (struct change_task *)t;
    const struct crawl_setup *made = c->made;
    const struct crawl_limits limits = {.limit_pages = made->crawl.limit_pages,
                                        .quota = made->crawl.quota,
                                        .time_limit = made->crawl.time_limit,
                                        .give_up = made->crawl.give_up};
    bool recheck;
    enum status st = settings_note(f, c->s, c->m->setup->form, &recheck);

    (void)wall_ms;
    if (st == STATUS_OK && c->parts & PART_SCOPE)
        st = change_scope(c, f);
    if (st == STATUS_OK && c->parts & PART_ORDER)
        st = change_order(c, f);
    if (c->parts & PART_RATE)
        frontier_set_schedule(f, &made->frontier.schedule, now);
    if (c->parts & PART_TRAPS)
        frontier_set_traps(f, made->frontier.traps.threshold);
    if (c->parts & PART_REFRESH)
        frontier_set_refresh(f, &made->frontier.refresh);
    if (c->parts & PART_LIMITS) {
        frontier_set_limits(f, made->frontier.limit_pages,
                            &made->frontier.budgets);
        crawl_set_limits(c->m->crawl, &limits);
    }
    if (st == STATUS_OK && recheck)
        frontier_recheck(f, c->m->setup->scope);
    return st;
}

/* Applies `s`, which are saved: if the crawl ends in between, its next start
 * applies them. `made` is made from them; what it takes of that is NULL
 * then. */
static enum status apply_running(struct crawl_job *m,
                                 const struct crawl_settings *s,
                                 struct crawl_setup *made, unsigned parts)
{
    struct change_task c = {.task = {.run = change, .durable = true},
                            .m = m,
                            .s = s,
                            .made = made,
                            .scope = made->scope,
                            .parts = parts};
    enum status st = crawl_perform(m->crawl, &c.task);

    if (parts & PART_RATE) {
        rate_limit_set(m->setup->rate, s->limit_rate_bytes, clock_mono());
        rate_limit_set_each(m->setup->rate, crawl_setup_rate_each(s));
    }
    made->scope = c.scope; /* NULL: the crawl took it */
    return st == STATUS_CLOSED ? STATUS_OK : st;
}

/* Saves the change in the settings file, which may differ from what is in
 * force: the user has edited it since the start, or this is a run with
 * --once. */
static enum status keep(const struct crawl_job *m,
                        const struct settings_call *c, struct buf *why)
{
    const char *dir = m->settings.output;
    struct crawl_settings kept;
    enum status st;

    settings_init(&kept);
    st = settings_load(&kept, dir, why);
    if (st == STATUS_OK)
        st = crawl_job_apply(&kept, c->in, c->base, why);
    if (st == STATUS_OK)
        st = settings_save(&kept);
    else if (st == STATUS_NOT_FOUND || st == STATUS_FORMAT)
        st = STATUS_ARG;
    settings_fini(&kept);
    fault_point("settings-kept");
    return st;
}

/* Nothing is changed unless all settings can be. */
static enum status set_running(struct crawl_job *m, struct crawl_settings *s,
                               const struct settings_call *c, struct buf *why)
{
    struct crawl_setup made;
    unsigned parts;
    enum status st = what_changed(&m->now, s, &parts, why);

    if (st != STATUS_OK)
        return st;
    if (crawl_setup_make(&made, s, why) != STATUS_OK)
        st = STATUS_ARG;
    if (st == STATUS_OK)
        st = keep(m, c, why);
    if (st == STATUS_OK && parts != 0)
        st = apply_running(m, s, &made, parts);
    crawl_setup_fini(&made);
    return st;
}

/* ---- settings of a stopped crawl ---- */

static enum status set_stopped(const struct crawl_settings *before,
                               const struct crawl_settings *s, struct buf *why)
{
    const char *fixed = settings_fixed_change(before, s);
    struct crawl_setup made;
    enum status st;

    if (fixed != NULL) {
        buf_addf(why, "%s: it is fixed when a crawl starts", fixed);
        return STATUS_ARG;
    }
    st = crawl_setup_make(&made, s, why) == STATUS_OK ? STATUS_OK : STATUS_ARG;
    crawl_setup_fini(&made);
    return st == STATUS_OK ? settings_save(s) : st;
}

/* ---- both ---- */

static enum status change_settings(struct crawl_job *m,
                                   const struct crawl_settings *before,
                                   const struct settings_call *c, json_t **out,
                                   struct buf *why)
{
    struct crawl_settings s;
    enum status st;

    option_copy(&crawl_options, &s, before, sizeof s);
    for (size_t i = 0; i < crawl_options.count; i++)
        s.from[i] = OPTION_FROM_CRAWL; /* the new value outranks it */
    st = crawl_job_apply(&s, c->in, c->base, why);
    if (st == STATUS_OK)
        st = m != NULL ? set_running(m, &s, c, why)
                       : set_stopped(before, &s, why);
    if (st == STATUS_OK)
        *out = json_pack("{s:o}", "changed", settings_changed_json(before, &s));
    if (st != STATUS_OK || m == NULL) {
        settings_fini(&s);
        return st;
    }
    settings_fini(&m->now);
    m->now = s;
    return st;
}

static enum status crawl_job_set_settings(void *ctx, struct crawl_job *m,
                                          const char *dir, json_t *in,
                                          json_t **out, struct buf *why)
{
    const struct crawl_jobs *h = ctx;
    const struct settings_call c = {in, h != NULL ? h->dir : NULL};
    struct crawl_settings before;
    enum status st = STATUS_OK;

    if (m != NULL)
        option_copy(&crawl_options, &before, &m->now, sizeof before);
    else
        st = crawl_job_load(&before, dir, why);
    if (st != STATUS_OK)
        return st;
    st = change_settings(m, &before, &c, out, why);
    settings_fini(&before);
    return st;
}

/*
 * Allows the paths that crawls of a service name.
 *
 * If the operator's file names another path later, the kernel refuses that path
 * until the next start of the service.
 */

/* Ignores a file that cannot be read: opening it later reports the error. Pipes
 * are left out, as they can be read only once. */
static void add_file(struct confine *c, const char *path)
{
    struct crawl_settings s;
    struct buf text, why;
    struct stat sb;

    if (stat(path, &sb) != 0 || !S_ISREG(sb.st_mode))
        return;
    settings_init(&s);
    buf_init(&text, CONFIG_CEILING);
    buf_init(&why, 65536);
    if (crawl_job_read_text(path, &text, &why) == STATUS_OK &&
        crawl_job_read(&s, path, buf_bytes(&text), OPTION_FROM_FILE, &why) ==
            STATUS_OK)
        confine_settings(c, &s);
    buf_fini(&why);
    buf_fini(&text);
    settings_fini(&s);
}

static void add_crawl(struct confine *c, const char *dir)
{
    struct crawl_settings s;
    struct buf why;

    buf_init(&why, 65536);
    if (crawl_job_load(&s, dir, &why) == STATUS_OK) {
        confine_settings(c, &s);
        settings_fini(&s);
    }
    buf_fini(&why);
}

void crawl_job_confine(struct confine *c, const char *dir,
                       const struct option_list *files)
{
    const struct dirent *e;
    char path[4096];
    DIR *d;

    for (size_t i = 0; i < files->count; i++) {
        confine_read_again(c, files->item[i]);
        add_file(c, files->item[i]);
    }
    snprintf(path, sizeof path, "%s/crawls", dir);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        snprintf(path, sizeof path, "%s/crawls/%s", dir, e->d_name);
        if (e->d_name[0] != '.' && settings_are_in(path))
            add_crawl(c, path);
    }
    if (d != NULL)
        closedir(d);
}

struct crawl_jobs *crawl_jobs_new(const struct crawl_jobs_options *o)
{
    struct crawl_jobs *h = xcalloc(1, sizeof *h);

    h->o = *o;
    if (h->o.memory == 0)
        h->o.memory = mem_total();
    if (h->o.threads == 0)
        h->o.threads = CRAWL_JOBS_THREADS * crawl_setup_cores();
    if (o->dir != NULL)
        h->dir = realpath(o->dir, NULL);
    return h;
}

void crawl_jobs_free(struct crawl_jobs *h)
{
    if (h == NULL || h->stuck)
        return;
    for (size_t i = 0; i < h->file_count; i++)
        free(h->files[i].path);
    free(h->files);
    ip_limit_free(h->ip_limit);
    free(h->dir);
    free(h);
}

bool crawl_jobs_are_stuck(const struct crawl_jobs *h)
{
    return h->stuck;
}

/* ---- files of the operator ---- */

const struct crawl_job_file *crawl_job_file_of(const struct crawl_jobs *h,
                                               const char *name)
{
    for (size_t i = 0; i < h->file_count; i++)
        if (strcmp(h->files[i].name, name) == 0)
            return &h->files[i];
    return NULL;
}

/* "news" for "/etc/urlweir/news.yaml". */
static struct bytes name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct bytes name = bytes_of_str(slash != NULL ? slash + 1 : path);

    if (name.len > 5 && memcmp(name.at + name.len - 5, ".yaml", 5) == 0)
        name.len -= 5;
    else if (name.len > 4 && memcmp(name.at + name.len - 4, ".yml", 4) == 0)
        name.len -= 4;
    return name;
}

static enum status from_file(struct crawl_settings *s, const char *path,
                             struct buf *text, struct buf *why)
{
    enum status st = crawl_job_read_text(path, text, why);

    return st == STATUS_OK
               ? crawl_job_read(s, path, buf_bytes(text), OPTION_FROM_FILE, why)
               : st;
}

static enum status check_file(const char *path, struct buf *why)
{
    struct crawl_settings s;
    struct buf text;
    enum status st;

    settings_init(&s);
    buf_init(&text, CONFIG_CEILING);
    st = from_file(&s, path, &text, why);
    buf_fini(&text);
    settings_fini(&s);
    return st == STATUS_OK ? STATUS_OK : STATUS_ARG;
}

enum status crawl_jobs_add_file(struct crawl_jobs *h, const char *path,
                                struct buf *why)
{
    struct bytes name = name_of(path);
    struct crawl_job_file f = {.path = NULL};

    if (!crawls_name_is_valid(name)) {
        buf_addf(why,
                 "%s: the crawl would be named '%.*s', but a name has at most "
                 "%d letters, digits, '-', '_' and '.', and does not begin "
                 "with '.' or '-'",
                 path, (int)(name.len < 80 ? name.len : 80), name.at,
                 CRAWLS_NAME_MOST);
        return STATUS_ARG;
    }
    snprintf(f.name, sizeof f.name, "%.*s", (int)name.len, name.at);
    if (crawl_job_file_of(h, f.name) != NULL) {
        buf_addf(why, "%s: another file already makes a crawl named %s", path,
                 f.name);
        return STATUS_ARG;
    }
    if (check_file(path, why) != STATUS_OK)
        return STATUS_ARG;
    f.path = xstrdup(path);
    h->files = xrealloc(h->files, (h->file_count + 1) * sizeof *h->files);
    h->files[h->file_count++] = f;
    return STATUS_OK;
}

static enum status create_and_wait(struct crawls *c, const char *name,
                                   struct buf *why)
{
    struct crawls_call call = {.verb = CRAWLS_CREATE,
                               .crawl = bytes_of_str(name)};
    enum status st = crawls_perform(c, &call);

    if (st != STATUS_OK)
        buf_addf(why, "%s%s: %s", why->len > 0 ? "\n" : "", name, call.why);
    json_decref(call.out);
    return st;
}

enum status crawl_jobs_start_files(struct crawl_jobs *h, struct crawls *c,
                                   struct buf *why)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; i < h->file_count; i++) {
        const char *name = h->files[i].name;

        if (!crawls_has(c, bytes_of_str(name)) &&
            create_and_wait(c, name, why) != STATUS_OK)
            st = STATUS_ARG;
    }
    atomic_store(&h->limited, true);
    return st;
}

/* ---- creation ---- */

static enum status create(void *ctx, const char *name, const char *dir,
                          json_t *in, struct crawl_job **out, struct buf *why)
{
    struct crawl_jobs *h = ctx;
    const struct crawl_job_file *f = crawl_job_file_of(h, name);
    struct crawl_settings s;
    struct buf text;
    enum status st = STATUS_OK;

    settings_init(&s);
    buf_init(&text, CONFIG_CEILING);
    if (in == NULL && f != NULL) {
        st = from_file(&s, f->path, &text, why);
    } else {
        st = crawl_job_take_seeds(&s, json_object_get(in, "seeds"), why);
        if (st == STATUS_OK)
            st = crawl_job_apply(&s, json_object_get(in, "settings"), h->dir,
                                 why);
    }
    free(s.output);
    s.output = xstrdup(dir);
    if (st == STATUS_OK)
        st = crawl_job_make(h, name, &s, buf_bytes(&text), out, why);
    if (st != STATUS_OK)
        settings_fini(&s);
    buf_fini(&text);
    return st;
}

/* ---- what is said on stderr ---- */

static void log_state(void *ctx, const struct crawls_view *v)
{
    struct crawl_jobs *h = ctx;
    const struct frontier_counts *s = &v->stats.counts;
    struct buf safe;

    if (h->o.quiet && v->state != CRAWLS_FAILED)
        return;
    buf_init(&safe, 4096);
    if (v->why[0] != '\0') {
        buf_add_str(&safe, ": ");
        format_terminal(&safe, bytes_of_str(v->why));
    } else if (v->state == CRAWLS_STOPPED && v->end != CRAWL_INTERRUPTED) {
        buf_addf(&safe, ": %s", crawl_end_text(v->end));
    }
    fprintf(stderr,
            "urlweir serve: crawl %s: %s%s; %llu pages, %llu failed, %llu of "
            "%llu URLs left\n",
            v->name, crawls_state_name(v->state), buf_str(&safe),
            (unsigned long long)s->pages, (unsigned long long)s->failed,
            (unsigned long long)s->queued, (unsigned long long)s->urls);
    buf_fini(&safe);
}

/* ---- the table ---- */

static struct crawl *crawl_of(struct crawl_job *m)
{
    return m->crawl;
}

struct crawl_factory crawl_jobs_factory(struct crawl_jobs *h)
{
    return (struct crawl_factory){
        .ctx = h,
        .create = create,
        .open = crawl_job_open,
        .crawl = crawl_of,
        .close = crawl_job_close,
        .seed = crawl_job_seed,
        .retry = crawl_job_retry,
        .refresh = crawl_job_refresh,
        .settings = crawl_job_settings,
        .set_settings = crawl_job_set_settings,
        .report = crawl_job_report,
        .read_stats = crawl_job_read_stats,
        .tick = crawl_job_tick,
        .tell = log_state,
        .patience = h->o.patience,
    };
}

struct crawl_job *crawl_job_attach(struct crawl_setup *setup,
                                   const struct crawl_settings *s,
                                   struct frontier *frontier,
                                   struct crawl *crawl)
{
    struct crawl_job *m = xcalloc(1, sizeof *m);

    m->setup = setup;
    m->frontier = frontier;
    m->crawl = crawl;
    option_copy(&crawl_options, &m->settings, s, sizeof *s);
    option_copy(&crawl_options, &m->now, s, sizeof *s);
    return m;
}

void crawl_job_release(struct crawl_job *m)
{
    if (m == NULL)
        return;
    settings_fini(&m->settings);
    settings_fini(&m->now);
    free(m);
}
