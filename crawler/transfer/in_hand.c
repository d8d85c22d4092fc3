/* SPDX-License-Identifier: MIT */
/*
 * in_hand.c - records which URL each fetcher is working on, readable after a
 * crash.
 *
 *   offset 0    "urlweir in hand\n", then zeros up to 64
 *   offset 64   slots of 64 octets: id u64, steps u64, stuck u64, doing u32,
 *               zeros; stuck if `stuck` is `steps` and not 0
 *
 * Numbers are in the machine's byte order: the file is not portable. Its blocks
 * are allocated before it is mapped, since a write to a mapped page on a full
 * disk kills the process with SIGBUS.
 */
#include "crawler/transfer/in_hand.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/status.h"

#define NAME "in-hand"
#define HEAD ((size_t)64)
#define MOST (HEAD + IN_HAND_SLOTS_MOST * sizeof(struct in_hand_slot))

static const char magic[] = "urlweir in hand\n";

_Static_assert(sizeof(struct in_hand_slot) == HEAD, "slots are of 64 octets");

struct in_hand {
    char *path; /* NULL: in memory only */
    void *map;
    size_t size;
    unsigned slots;
};

static char *path_in(const char *dir)
{
    size_t size = strlen(dir) + sizeof "/" NAME;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/" NAME, dir);
    return path;
}

/* ---- the file of an earlier process ---- */

static bool left_in(const char *at, struct in_hand_left *out)
{
    uint64_t id, steps, stuck;

    memcpy(&id, at + offsetof(struct in_hand_slot, id), sizeof id);
    memcpy(&steps, at + offsetof(struct in_hand_slot, steps), sizeof steps);
    memcpy(&stuck, at + offsetof(struct in_hand_slot, stuck), sizeof stuck);
    *out = (struct in_hand_left){id, stuck != 0 && stuck == steps};
    return id != 0;
}

void in_hand_read(const char *dir, struct in_hand_left *out, size_t most,
                  size_t *n)
{
    char *path = path_in(dir);
    struct buf b;

    *n = 0;
    buf_init(&b, MOST);
    if (file_read(path, &b) == STATUS_OK && b.len >= HEAD &&
        memcmp(b.at, magic, sizeof magic - 1) == 0)
        for (size_t at = HEAD; *n < most && b.len - at >= HEAD; at += HEAD)
            *n += left_in(b.at + at, &out[*n]);
    buf_fini(&b);
    free(path);
}

/* ---- slots of this process ---- */

static void *map_file(const char *path, size_t size)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)size);
    void *map = MAP_FAILED;

    if (error == 0) {
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = map == MAP_FAILED ? errno : 0;
    }
    if (fd >= 0)
        close(fd);
    if (error == 0)
        return map;
    log_warn("cannot note which URLs are in hand", "path=%s error=%s", path,
             strerror(error));
    return NULL;
}

struct in_hand *in_hand_open(const char *dir, unsigned slots)
{
    struct in_hand *h = xcalloc(1, sizeof *h);

    assert(slots <= IN_HAND_SLOTS_MOST);
    h->path = path_in(dir);
    h->slots = slots;
    h->size = HEAD + slots * sizeof(struct in_hand_slot);
    h->map = map_file(h->path, h->size);
    if (h->map == NULL) {
        free(h->path);
        h->path = NULL;
        h->map = xcalloc(1, h->size);
    }
    memcpy(h->map, magic, sizeof magic - 1);
    return h;
}

struct in_hand_slot *in_hand_slot(struct in_hand *h, unsigned i)
{
    assert(i < h->slots);
    return (struct in_hand_slot *)(void *)((char *)h->map + HEAD) + i;
}

void in_hand_mark_stuck(struct in_hand *h, unsigned i, uint64_t steps)
{
    atomic_store(&in_hand_slot(h, i)->stuck, steps);
    if (h->path == NULL)
        return;
    if (msync(h->map, h->size, MS_SYNC) != 0 ||
        file_sync_parent(h->path) != STATUS_OK)
        log_warn("cannot write which URLs are in hand", "path=%s error=%s",
                 h->path, strerror(errno));
}

const char *in_hand_doing_text(enum in_hand_doing doing)
{
    switch (doing) {
    case IN_HAND_BEGIN:
        return "beginning its request";
    case IN_HAND_TRANSFER:
        return "reading its connection";
    case IN_HAND_HEAD:
        return "reading its head";
    case IN_HAND_BODY:
        return "decoding its body";
    case IN_HAND_PARSE:
        return "parsing its response";
    }
    return "unknown";
}

static bool is_empty(struct in_hand *h)
{
    bool empty = true;

    for (unsigned i = 0; i < h->slots; i++)
        empty = empty && atomic_load(&in_hand_slot(h, i)->id) == 0;
    return empty;
}

void in_hand_close(struct in_hand *h)
{
    if (h == NULL)
        return;
    if (h->path == NULL) {
        free(h->map);
    } else {
        if (is_empty(h))
            (void)unlink(h->path);
        munmap(h->map, h->size);
    }
    free(h->path);
    free(h);
}

/* ---- finds hung fetchers ---- */

struct watched {
    uint64_t id, steps;
    int64_t since; /* by the watchdog's own clock */
    bool stuck;
};

struct watchdog {
    int64_t patience;
    int64_t looked; /* monotonic; 0: never */
    int64_t time;   /* time that counts */
    unsigned slots, stuck;
    struct watched at[];
};

struct watchdog *watchdog_new(unsigned slots, int64_t patience)
{
    struct watchdog *w = xcalloc(1, sizeof *w + slots * sizeof w->at[0]);

    w->patience = patience;
    w->slots = slots;
    return w;
}

void watchdog_free(struct watchdog *w)
{
    free(w);
}

int64_t watchdog_round(struct watchdog *w, int64_t now)
{
    int64_t passed = w->looked != 0 ? now - w->looked : 0;

    w->looked = now;
    w->time += passed < WATCHDOG_GAP_MOST ? passed : WATCHDOG_GAP_MOST;
    return w->time;
}

static enum watchdog_news came_back(struct watchdog *w, struct watched *s)
{
    if (!s->stuck)
        return WATCHDOG_NOTHING;
    s->stuck = false;
    w->stuck--;
    return WATCHDOG_BACK;
}

enum watchdog_news watchdog_check(struct watchdog *w, unsigned i, uint64_t id,
                                  uint64_t steps)
{
    struct watched *s = &w->at[i];

    if (id == 0 || id != s->id || steps != s->steps) {
        s->id = id;
        s->steps = steps;
        s->since = w->time;
        return came_back(w, s);
    }
    if (s->stuck || w->time - s->since < w->patience)
        return WATCHDOG_NOTHING;
    s->stuck = true;
    w->stuck++;
    return WATCHDOG_STUCK;
}

void watchdog_heard_of(struct watchdog *w, uint64_t id)
{
    for (unsigned i = 0; i < w->slots; i++)
        if (w->at[i].id == id && !w->at[i].stuck)
            w->at[i].since = w->time;
}

unsigned watchdog_stuck(const struct watchdog *w)
{
    return w->stuck;
}

int64_t watchdog_waited(const struct watchdog *w, unsigned i)
{
    return w->time - w->at[i].since;
}
