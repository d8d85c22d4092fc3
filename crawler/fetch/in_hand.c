/* SPDX-License-Identifier: MIT */
/*
 * in_hand.c - which URL each fetcher has in hand, readable after a crash.
 *
 *   offset 0    "urlweir in hand\n", then zeros up to 64
 *   offset 64   slots of 64 octets: id u64, steps u64, stuck u32, zeros
 *
 * Numbers are in the machine's own order: the file means nothing elsewhere.
 * Its blocks are allocated before it is mapped, since a store to a mapped page
 * that finds the disk full ends the process with SIGBUS.
 */
#include "crawler/fetch/in_hand.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/logger.h"
#include "base/mem.h"

#define NAME "in-hand"
#define HEAD ((size_t)64)
#define MOST (HEAD + IN_HAND_SLOTS_MOST * sizeof(struct in_hand_slot))

static const char magic[] = "urlweir in hand\n";

_Static_assert(sizeof(struct in_hand_slot) == HEAD, "slots are of 64 octets");

struct in_hand {
    char *path;
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

/* ---- what is left of an earlier process ---- */

static bool left_in(const char *at, struct in_hand_left *out)
{
    uint64_t id;
    uint32_t stuck;

    memcpy(&id, at + offsetof(struct in_hand_slot, id), sizeof id);
    memcpy(&stuck, at + offsetof(struct in_hand_slot, stuck), sizeof stuck);
    *out = (struct in_hand_left){id, stuck != 0};
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

/* ---- the slots of this one ---- */

static enum status map_file(struct in_hand *h)
{
    int fd = open(h->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)h->size);

    if (error == 0) {
        h->map = mmap(NULL, h->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = h->map == MAP_FAILED ? errno : 0;
    }
    if (fd >= 0)
        close(fd);
    if (error == 0) {
        memcpy(h->map, magic, sizeof magic - 1);
        return STATUS_OK;
    }
    h->map = NULL;
    log_warn("cannot note which URLs are in hand", "path=%s error=%s", h->path,
             strerror(error));
    return error == ENOSPC ? STATUS_FULL : STATUS_IO;
}

enum status in_hand_open(struct in_hand **out, const char *dir, unsigned slots)
{
    struct in_hand *h = xcalloc(1, sizeof *h);
    enum status st;

    assert(slots <= IN_HAND_SLOTS_MOST);
    h->path = path_in(dir);
    h->slots = slots;
    h->size = HEAD + slots * sizeof(struct in_hand_slot);
    st = map_file(h);
    if (st == STATUS_OK)
        *out = h;
    else
        in_hand_close(h);
    return st;
}

struct in_hand_slot *in_hand_slot(struct in_hand *h, unsigned i)
{
    if (h == NULL)
        return NULL;
    assert(i < h->slots);
    return (struct in_hand_slot *)(void *)((char *)h->map + HEAD) + i;
}

void in_hand_close(struct in_hand *h)
{
    bool empty = true;

    if (h == NULL)
        return;
    for (unsigned i = 0; h->map != NULL && i < h->slots; i++)
        empty = empty && atomic_load(&in_hand_slot(h, i)->id) == 0;
    if (h->map != NULL)
        munmap(h->map, h->size);
    if (empty)
        (void)unlink(h->path);
    free(h->path);
    free(h);
}
