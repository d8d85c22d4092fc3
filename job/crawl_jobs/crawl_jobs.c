/* SPDX-License-Identifier: MIT */
/*
 * crawl_jobs.c - the factory's table, files of the operator, attached crawls.
 */
#include "job/crawl_jobs/crawl_jobs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/format.h"
#include "base/mem.h"
#include "config/config.h"
#include "job/crawl_jobs/crawl_jobs_impl.h"
#include "job/settings/settings.h"

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
