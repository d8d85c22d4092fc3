/* SPDX-License-Identifier: MIT */
/*
 * filter_shelf.c - the shelf's thread, and its files.
 *
 *     take all calls ─► carry each out ─► one sync of the log ─► done
 *          ▲                │ a build is under way                │
 *          │                ▼                                     ▼
 *          └──────────── waiting ◄──────────────────── checkpoint, if it is time
 *
 * One thread for all filters: a batch takes a few milliseconds at most, and the
 * disk's sync, which takes longer, is shared by all that wait for it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/thread/cond.h"
#include "filter/checkpoint.h"
#include "service/filters/filter_shelf_impl.h"

/* What was added to named filters and removed from them since they were last
 * saved.
 *
 * A file of its own rather than rows of the store: a record is a few keys of 8
 * octets, lives until the next checkpoint, and is never looked up.
 */

#define HEAD        16
#define RECORD_HEAD 32
#define AT_SUM      24
#define VERSION     1

static const char magic[8] = {'u', 'r', 'l', 'w', 'e', 'i', 'r', 'L'};
static const char mark[4] = {'F', 'R', 'E', 'C'};

struct filter_log {
    char *path;
    int fd;
    uint64_t size; /* of the file */
    struct buf waiting;
    enum status failed;
};

/* ---- numbers ---- */

static uint64_t get_number(const unsigned char *from, unsigned octets)
{
    uint64_t v = 0;

    while (octets-- > 0)
        v = v << 8 | from[octets];
    return v;
}

static void log_put_number(unsigned char *to, unsigned octets, uint64_t v)
{
    for (unsigned i = 0; i < octets; i++)
        to[i] = (unsigned char)(v >> (8 * i));
}

/* ---- reading ---- */

static size_t padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static uint64_t sum_of(const unsigned char *record, size_t length)
{
    return XXH3_64bits_withSeed(record + RECORD_HEAD, length - RECORD_HEAD,
                                XXH3_64bits(record, AT_SUM));
}

/* Its length; 0: no whole, valid record begins here. */
static size_t record_at(const unsigned char *at, size_t left)
{
    size_t length, name;

    if (left < RECORD_HEAD || memcmp(at, mark, sizeof mark) != 0)
        return 0;
    length = (size_t)get_number(at + 4, 4);
    name = padded(at[17]);
    if (length > left || length % 8 != 0 || length < RECORD_HEAD + name ||
        (length - RECORD_HEAD - name) / 8 > FILTER_LOG_KEYS ||
        (at[16] != FILTER_LOG_ADDED && at[16] != FILTER_LOG_REMOVED) ||
        get_number(at + AT_SUM, 8) != sum_of(at, length))
        return 0;
    return length;
}

struct reading {
    const unsigned char *at;
    size_t len;
    void (*visit)(void *ctx, const struct filter_log_record *r);
    void *ctx;
    uint64_t *number;
    uint64_t keys[FILTER_LOG_KEYS];
};

static void log_take_record(struct reading *r, const unsigned char *at,
                            size_t length)
{
    size_t name = at[17], first = RECORD_HEAD + padded(name);
    struct filter_log_record one = {.number = get_number(at + 8, 8),
                                    .op = (enum filter_log_op)at[16],
                                    .name =
                                        bytes_of((const char *)at + RECORD_HEAD,
                                                 name),
                                    .keys = r->keys,
                                    .n = (length - first) / 8};

    for (size_t i = 0; i < one.n; i++)
        r->keys[i] = get_number(at + first + i * 8, 8);
    if (one.number > *r->number)
        *r->number = one.number;
    r->visit(r->ctx, &one);
}

/* Visits all records that verify; *end: behind the last one. STATUS_DAMAGED:
 * octets before it do not verify. */
static enum status read_records(struct reading *r, uint64_t *end)
{
    enum status st = STATUS_OK;
    size_t at = HEAD;
    bool gap = false;

    *end = HEAD;
    while (at < r->len) {
        size_t length = record_at(r->at + at, r->len - at);

        if (length == 0) {
            gap = true;
            at += 8;
            continue;
        }
        if (gap)
            st = STATUS_DAMAGED;
        log_take_record(r, r->at + at, length);
        at += length;
        *end = at;
    }
    return st;
}

static enum status check_head(const struct filter_log *l,
                              const unsigned char *at)
{
    if (memcmp(at, magic, sizeof magic) != 0) {
        log_error("not a log of filters", "path=%s", l->path);
        return STATUS_FORMAT;
    }
    if (get_number(at + 8, 4) > VERSION) {
        log_error("log of filters of a newer release", "path=%s", l->path);
        return STATUS_VERSION;
    }
    return STATUS_OK;
}

static enum status log_read_file(struct filter_log *l, struct reading *r,
                                 uint64_t *end)
{
    void *map = mmap(NULL, (size_t)l->size, PROT_READ, MAP_PRIVATE, l->fd, 0);
    enum status st;

    if (map == MAP_FAILED)
        return status_of_errno(errno);
    r->at = map;
    r->len = (size_t)l->size;
    st = check_head(l, r->at);
    if (st == STATUS_OK)
        st = read_records(r, end);
    munmap(map, (size_t)l->size);
    if (st == STATUS_DAMAGED)
        log_error("log of filters is damaged", "path=%s", l->path);
    else if (st == STATUS_OK && *end < l->size)
        log_warn("the end of a log was not written whole",
                 "path=%s octets=%llu", l->path,
                 (unsigned long long)(l->size - *end));
    return st;
}

/* ---- writing ---- */

static enum status log_failed(struct filter_log *l, const char *what)
{
    l->failed = file_failed(what, l->path);
    return l->failed;
}

static enum status log_write_all(struct filter_log *l, const char *at,
                                 size_t len)
{
    while (len > 0) {
        ssize_t n = pwrite(l->fd, at, len, (off_t)l->size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return log_failed(l, "cannot write a log of filters");
        at += n;
        len -= (size_t)n;
        l->size += (uint64_t)n;
    }
    return STATUS_OK;
}

static enum status sync_file(struct filter_log *l)
{
    if (fdatasync(l->fd) != 0)
        l->failed = unsynced_failed("cannot sync a log of filters", l->path);
    return l->failed;
}

/* Leaves the first `size` octets. */
static enum status log_cut(struct filter_log *l, uint64_t size)
{
    if (ftruncate(l->fd, (off_t)size) != 0)
        return log_failed(l, "cannot cut a log of filters");
    l->size = size;
    return sync_file(l);
}

static enum status log_begin(struct filter_log *l)
{
    char head[HEAD] = {0};
    enum status st = log_cut(l, 0);

    memcpy(head, magic, sizeof magic);
    log_put_number((unsigned char *)head + 8, 4, VERSION);
    if (st == STATUS_OK)
        st = log_write_all(l, head, sizeof head);
    if (st == STATUS_OK)
        st = sync_file(l);
    return st == STATUS_OK ? file_sync_parent(l->path) : st;
}

void filter_log_append(struct filter_log *l, const struct filter_log_record *r)
{
    size_t first = RECORD_HEAD + padded(r->name.len);
    size_t length = first + r->n * 8;
    unsigned char *at = (unsigned char *)buf_room(&l->waiting, length);

    if (at == NULL) {
        l->failed = STATUS_NOMEM;
        return;
    }
    memset(at, 0, first);
    memcpy(at, mark, sizeof mark);
    log_put_number(at + 4, 4, length);
    log_put_number(at + 8, 8, r->number);
    at[16] = (unsigned char)r->op;
    at[17] = (unsigned char)r->name.len;
    memcpy(at + RECORD_HEAD, r->name.at, r->name.len);
    for (size_t i = 0; i < r->n; i++)
        log_put_number(at + first + i * 8, 8, r->keys[i]);
    log_put_number(at + AT_SUM, 8, sum_of(at, length));
    buf_grew(&l->waiting, length);
}

enum status filter_log_sync(struct filter_log *l)
{
    if (l->failed == STATUS_OK && l->waiting.len > 0) {
        fault_point("filter-log-write");
        if (log_write_all(l, l->waiting.at, l->waiting.len) == STATUS_OK)
            (void)sync_file(l);
        fault_point("filter-log-synced");
    }
    buf_clear(&l->waiting);
    return l->failed;
}

enum status filter_log_clear(struct filter_log *l)
{
    return l->failed != STATUS_OK ? l->failed : log_cut(l, HEAD);
}

uint64_t filter_log_size(const struct filter_log *l)
{
    return l->size;
}

/* ---- open, close ---- */

enum status filter_log_open(struct filter_log **out, const char *path,
                            void (*visit)(void *ctx,
                                          const struct filter_log_record *r),
                            void *ctx, uint64_t *number)
{
    struct filter_log *l = xcalloc(1, sizeof *l);
    struct reading *r = xcalloc(1, sizeof *r);
    uint64_t end = 0;
    struct stat sb;
    enum status st = STATUS_OK;

    *r = (struct reading){.visit = visit, .ctx = ctx, .number = number};
    *number = 0;
    l->path = xstrdup(path);
    buf_init(&l->waiting, (size_t)1 << 30);
    l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (l->fd < 0 || fstat(l->fd, &sb) != 0)
        st = log_failed(l, "cannot open a log of filters");
    else
        l->size = (uint64_t)sb.st_size;
    if (st == STATUS_OK && l->size < HEAD)
        st = log_begin(l); /* new, or cut short before it held anything */
    else if (st == STATUS_OK)
        st = log_read_file(l, r, &end);
    if (st == STATUS_OK && end != 0 && end < l->size)
        st = log_cut(l, end);
    free(r);
    if (st != STATUS_OK && st != STATUS_DAMAGED) {
        filter_log_close(l);
        return st;
    }
    *out = l;
    return st;
}

void filter_log_close(struct filter_log *l)
{
    if (l == NULL)
        return;
    if (l->fd >= 0)
        close(l->fd);
    buf_fini(&l->waiting);
    free(l->path);
    free(l);
}

/* ---- images of filters, and reading them back ----
 *
 * An image says which log record it has last (`covers`), so a record that is in
 * an image already is not applied twice. A record of a filter that is gone, or
 * was made anew since, is passed over for the same reason.
 */

#define SUFFIX ".filter"

static void path_of(const struct filter_shelf *s, const char *name,
                    struct buf *path)
{
    buf_init(path, 8192);
    buf_addf(path, "%s/%s" SUFFIX, s->dir, name);
}

enum status shelf_save(struct filter_shelf *s, struct shelf_filter *f)
{
    struct buf path;
    enum status st;

    path_of(s, f->name, &path);
    f->id.covers = s->number;
    st = checkpoint_save(buf_str(&path), f->filter, &f->id);
    if (st != STATUS_OK)
        log_error("cannot save a filter", "path=%s error=\"%s\"",
                  buf_str(&path), status_text(st));
    buf_fini(&path);
    f->dirty = st != STATUS_OK;
    return st;
}

enum status shelf_remove_file(struct filter_shelf *s, const char *name)
{
    struct buf path;
    enum status st = STATUS_OK;

    path_of(s, name, &path);
    if (unlink(buf_str(&path)) != 0 && errno != ENOENT)
        st = status_of_errno(errno);
    if (st == STATUS_OK)
        st = file_sync_parent(buf_str(&path));
    buf_fini(&path);
    return st;
}

/* ---- checkpoints ---- */

struct saving {
    struct filter_shelf *shelf;
    enum status st;
};

static bool save_dirty(void *ctx, struct bytes name, void *value)
{
    struct saving *a = ctx;
    struct shelf_filter *f = value;

    (void)name;
    if (f->dirty)
        a->st = shelf_save(a->shelf, f);
    return a->st == STATUS_OK;
}

static enum status shelf_checkpoint(struct filter_shelf *s)
{
    struct saving a = {s, STATUS_OK};

    map_each(s->filters, save_dirty, &a);
    fault_point("filter-shelf-saved");
    return a.st == STATUS_OK ? filter_log_clear(s->log) : a.st;
}

void shelf_log(struct filter_shelf *s, struct shelf_filter *f,
               enum filter_log_op op, const uint64_t *keys, size_t n)
{
    const struct filter_log_record r = {.number = ++s->number,
                                        .op = op,
                                        .name = bytes_of_str(f->name),
                                        .keys = keys,
                                        .n = n};

    f->dirty = true;
    filter_log_append(s->log, &r);
}

/* ---- reading back ---- */

enum status shelf_read(struct filter_shelf *s, const char *path,
                       struct shelf_filter *f)
{
    struct checkpoint_info info;
    enum status st = seeded_load(&f->filter, path, s->memory, &info, &f->key);

    if (st != STATUS_OK)
        return st == STATUS_REFUSED ? STATUS_FORMAT : st; /* of a crawl */
    f->id = info.id;
    f->id.keys = CHECKPOINT_KEYS_UNKNOWN; /* callers add what they want */
    /* Keys that are replayed count from now on. */
    return filter_age(f->filter, clock_wall_ms() / 1000);
}

/* A file that was put here has none of the log's records: those of its name are
 * of an older filter. Once it is saved it says so itself. */
static enum status shelf_adopt(struct filter_shelf *s, struct shelf_filter *f)
{
    if (s->log != NULL)
        return shelf_save(s, f);
    f->id.covers = UINT64_MAX; /* until shelf_load() has read the log */
    f->dirty = true;
    return STATUS_OK;
}

enum status shelf_load_one(struct filter_shelf *s, struct bytes name)
{
    struct shelf_filter *f;
    struct stat sb;
    struct buf path;
    enum status st = STATUS_NOT_FOUND;

    if (!filter_shelf_name_is_valid(name))
        return STATUS_NOT_FOUND;
    f = xcalloc(1, sizeof *f);
    memcpy(f->name, name.at, name.len);
    path_of(s, f->name, &path);
    if (stat(buf_str(&path), &sb) == 0)
        st = shelf_read(s, buf_str(&path), f);
    buf_fini(&path);
    if (st != STATUS_OK) {
        if (st != STATUS_NOT_FOUND)
            log_error("a filter cannot be read and is left out",
                      "name=%s error=\"%s\"", f->name, status_text(st));
        shelf_filter_free(f);
        return st;
    }
    if (f->id.generation == 0) { /* `urlweir filter` made it */
        f->id.generation = (uint64_t)sb.st_mtime;
        st = shelf_adopt(s, f);
        if (st != STATUS_OK) {
            shelf_filter_free(f);
            return st;
        }
    } else if (f->id.covers > s->number) {
        s->number = f->id.covers;
    }
    shelf_measure(f);
    s->own.bytes += f->bytes;
    map_put(s->filters, name, f);
    return STATUS_OK;
}

static enum status load_all(struct filter_shelf *s)
{
    DIR *d = opendir(s->dir);
    enum status st = STATUS_OK;
    struct dirent *e;

    if (d == NULL)
        return status_of_errno(errno);
    while (st == STATUS_OK && (e = readdir(d)) != NULL) {
        struct bytes name = bytes_of_str(e->d_name);

        if (bytes_starts_with(name, SHELF_UPLOAD)) /* left by a kill */
            (void)unlinkat(dirfd(d), e->d_name, 0);
        if (name.len <= strlen(SUFFIX) ||
            strcmp(e->d_name + name.len - strlen(SUFFIX), SUFFIX) != 0)
            continue;
        name.len -= strlen(SUFFIX);
        if (shelf_load_one(s, name) == STATUS_NOMEM)
            st = STATUS_NOMEM;
    }
    closedir(d);
    return st;
}

static void shelf_replay(void *ctx, const struct filter_log_record *r)
{
    struct filter_shelf *s = ctx;
    struct shelf_filter *f = map_get(s->filters, r->name);
    enum status st;

    if (f == NULL || r->number <= f->id.covers)
        return;
    f->dirty = true;
    st = r->op == FILTER_LOG_ADDED
             ? filter_add_lenient(f->filter, r->keys, r->n, NULL)
             : filter_remove(f->filter, r->keys, r->n, NULL);
    if (st != STATUS_OK)
        log_error("a record of a filter cannot be applied",
                  "name=%s error=\"%s\"", f->name, status_text(st));
}

static bool doubt(void *ctx, struct bytes name, void *value)
{
    struct shelf_filter *f = value;

    (void)ctx;
    (void)name;
    f->id.generation = SHELF_UNBUILT;
    f->dirty = true;
    return true;
}

static enum status shelf_load(struct filter_shelf *s)
{
    struct buf path;
    uint64_t number = 0;
    enum status st = file_make_dir(s->dir);

    if (st == STATUS_OK)
        st = load_all(s);
    if (st != STATUS_OK)
        return st;
    buf_init(&path, 8192);
    buf_addf(&path, "%s/filters.log", s->dir);
    st = filter_log_open(&s->log, buf_str(&path), shelf_replay, s, &number);
    buf_fini(&path);
    if (st == STATUS_DAMAGED) {
        log_error("keys of filters are lost; each answers `maybe` to every key "
                  "until it is built again",
                  "filters=%zu", map_count(s->filters));
        map_each(s->filters, doubt, NULL);
        st = STATUS_OK;
    }
    if (number > s->number)
        s->number = number;
    return st == STATUS_OK ? shelf_checkpoint(s) : st;
}

#define LOG_MOST (UINT64_C(32) << 20)

bool filter_shelf_name_is_valid(struct bytes name)
{
    if (name.len == 0 || name.len > SHELF_NAME_MOST || name.at[0] == '.' ||
        name.at[0] == '-')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
            !(c >= '0' && c <= '9') && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

/* ---- the thread ---- */

/* Sorts a call that was carried out, or has to wait, into its list. */
static void carry_out(struct filter_shelf *s, struct shelf_call *c, int64_t now,
                      struct shelf_call **done)
{
    struct shelf_call **to = shelf_carry_out(s, c, now) ? done : &s->waiting;

    c->next = *to;
    *to = c;
}

/* In the order in which they came. */
static void answer_all(struct filter_shelf *s, struct shelf_call *done)
{
    enum status st = filter_log_sync(s->log);
    struct shelf_call *in_order = NULL;
    unsigned n = 0;

    for (struct shelf_call *c = done, *next; c != NULL; c = next) {
        next = c->next;
        c->next = in_order;
        in_order = c;
        n++;
    }
    pthread_mutex_lock(&s->mtx);
    s->calls -= n;
    s->stats = s->own;
    pthread_mutex_unlock(&s->mtx);
    for (struct shelf_call *c = in_order, *next; c != NULL; c = next) {
        next = c->next; /* `done` may free the call */
        if (c->changed && c->status == STATUS_OK)
            c->status = st;
        c->done(c);
    }
}

static int64_t next_moment(struct filter_shelf *s, int64_t lease)
{
    for (const struct shelf_call *c = s->waiting; c != NULL; c = c->next)
        lease = clock_earlier(lease, c->wait_until);
    return lease;
}

/* Returns all calls that came, or NULL when it closes. */
static struct shelf_call *shelf_take(struct filter_shelf *s, int64_t until,
                                     bool *stopping, bool *closing)
{
    struct shelf_call *all;

    pthread_mutex_lock(&s->mtx);
    while (s->first == NULL && !s->closing && s->stopping == *stopping)
        if (until == INT64_MAX)
            pthread_cond_wait(&s->wake, &s->mtx);
        else if (!cond_wait_until(&s->wake, &s->mtx, until))
            break;
    all = s->first;
    s->first = NULL;
    s->last = &s->first;
    *stopping = s->stopping;
    *closing = s->closing;
    pthread_mutex_unlock(&s->mtx);
    return all;
}

static void *shelf_run(void *arg)
{
    struct filter_shelf *s = arg;
    bool stopping = false, closing = false;

    while (!closing) {
        int64_t lease = shelf_end_leases(s, clock_mono()), now;
        struct shelf_call *came =
            shelf_take(s, next_moment(s, lease), &stopping, &closing);
        struct shelf_call *waited = s->waiting, *done = NULL;

        s->waiting = NULL;
        now = stopping || closing ? INT64_MAX : clock_mono();
        for (struct shelf_call *c = came, *next; c != NULL; c = next) {
            next = c->next;
            carry_out(s, c, now, &done);
        }
        (void)shelf_end_leases(s, clock_mono());
        for (struct shelf_call *c = waited, *next; c != NULL; c = next) {
            next = c->next;
            carry_out(s, c, now, &done);
        }
        answer_all(s, done);
        if (filter_log_size(s->log) > LOG_MOST)
            (void)!shelf_checkpoint(s); /* logged; the log has it all */
    }
    return NULL;
}

/* ---- from any thread ---- */

enum status filter_shelf_submit(struct filter_shelf *s, struct shelf_call *c)
{
    enum status st = STATUS_OK;

    c->next = NULL;
    c->wait_until = clock_mono() + c->wait_s * NS_PER_S;
    c->seen = UINT64_MAX;
    pthread_mutex_lock(&s->mtx);
    if (s->closing) {
        st = STATUS_CLOSED;
    } else if (s->calls == SHELF_CALLS_MOST) {
        st = STATUS_AGAIN;
    } else {
        s->calls++;
        *s->last = c;
        s->last = &c->next;
        pthread_cond_signal(&s->wake);
    }
    pthread_mutex_unlock(&s->mtx);
    return st;
}

void filter_shelf_stop(struct filter_shelf *s)
{
    pthread_mutex_lock(&s->mtx);
    s->stopping = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mtx);
}

void filter_shelf_get_stats(struct filter_shelf *s,
                            struct filter_shelf_stats *out)
{
    pthread_mutex_lock(&s->mtx);
    *out = s->stats;
    pthread_mutex_unlock(&s->mtx);
}

const char *filter_shelf_dir(const struct filter_shelf *s)
{
    return s->dir;
}

uint64_t filter_shelf_memory(const struct filter_shelf *s)
{
    return s->memory;
}

/* ---- open, close ---- */

static void shelf_free(struct filter_shelf *s)
{
    map_free(s->filters, shelf_filter_free);
    filter_log_close(s->log);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->mtx);
    free(s->dir);
    free(s);
}

enum status filter_shelf_open(struct filter_shelf **out, const char *dir,
                              uint64_t memory)
{
    struct filter_shelf *s = xcalloc(1, sizeof *s);
    enum status st;

    s->dir = xstrdup(dir);
    s->memory = memory;
    s->filters = map_new();
    s->last = &s->first;
    pthread_mutex_init(&s->mtx, NULL);
    cond_init(&s->wake);
    st = shelf_load(s);
    (void)shelf_end_leases(s, 0); /* counts them */
    s->stats = s->own;
    if (st == STATUS_OK && pthread_create(&s->thread, NULL, shelf_run, s) != 0)
        st = STATUS_NOMEM;
    if (st != STATUS_OK) {
        shelf_free(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

enum status filter_shelf_close(struct filter_shelf *s)
{
    enum status st;

    if (s == NULL)
        return STATUS_OK;
    pthread_mutex_lock(&s->mtx);
    s->closing = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->mtx);
    pthread_join(s->thread, NULL);
    st = shelf_checkpoint(s);
    shelf_free(s);
    return st;
}
