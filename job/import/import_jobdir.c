/* SPDX-License-Identifier: MIT */
/*
 * import_jobdir.c - the requests that wait in a JOBDIR of Scrapy.
 *
 * The directories that are open are a stack; the path of what is read grows and
 * shrinks with it.
 */
#include "job/import/import_jobdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "job/import/import_queue.h"

#define DEPTH_MOST 4 /* requests.queue, slot, FIFO, and one that is none */
#define INFO_MOST  4096

struct level {
    DIR *dir;
    size_t path_len;
    /* from info.json of a FIFO: what was taken */
    unsigned long first_chunk;
    uint64_t first_at;
};

struct import_jobdir {
    struct level levels[DEPTH_MOST];
    size_t depth;
    struct buf path; /* of what is read */
    struct import_queue *queue;
    bool in_file, has_seen;
    const char *why;
};

/* ---- directories ---- */

/* {"chunksize": 100000, "size": 5, "tail": [0, 1, 373], "head": [0, 6]}: the
 * tail is the chunk that is read, the requests and the octets taken of it. A
 * process that was killed left none or an older one; then requests come that
 * were taken already. */
static void read_info(struct level *l)
{
    int fd = openat(dirfd(l->dir), "info.json",
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    char text[INFO_MOST];
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : 0;
    json_t *info, *tail;

    if (fd >= 0)
        close(fd);
    info = n > 0 ? json_loadb(text, (size_t)n, 0, NULL) : NULL;
    tail = json_object_get(info, "tail");
    if (json_array_size(tail) == 3) {
        json_int_t chunk = json_integer_value(json_array_get(tail, 0));
        json_int_t at = json_integer_value(json_array_get(tail, 2));

        if (chunk >= 0 && at >= 0) {
            l->first_chunk = (unsigned long)chunk;
            l->first_at = (uint64_t)at;
        }
    }
    json_decref(info);
}

/* Takes `fd`, unless it is no directory that can be read: false. */
static bool enter(struct import_jobdir *j, int fd)
{
    struct level *l = &j->levels[j->depth];

    *l = (struct level){.dir = fdopendir(fd), .path_len = j->path.len};
    if (l->dir == NULL)
        return false;
    j->depth++;
    read_info(l);
    return true;
}

struct import_jobdir *import_jobdir_open(const char *path)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    struct import_jobdir *j = xcalloc(1, sizeof *j);
    int fd;

    buf_init(&j->path, PATH_MAX + DEPTH_MOST * (NAME_MAX + 1));
    buf_addf(&j->path, "%s/requests.queue", path);
    j->queue = import_queue_new();
    j->why = "";
    fd = open(buf_str(&j->path), flags);
    if (fd < 0 && errno == ENOENT) {
        buf_clear(&j->path);
        buf_add_str(&j->path, path);
        fd = open(path, flags);
    }
    j->has_seen = fd >= 0 && faccessat(fd, "../requests.seen", F_OK, 0) == 0;
    if (fd < 0 || !enter(j, fd)) {
        if (fd >= 0)
            close(fd);
        import_jobdir_close(j);
        return NULL;
    }
    return j;
}

void import_jobdir_close(struct import_jobdir *j)
{
    const int error = errno;

    if (j == NULL)
        return;
    while (j->depth > 0)
        closedir(j->levels[--j->depth].dir);
    import_queue_free(j->queue);
    buf_fini(&j->path);
    free(j);
    errno = error;
}

const char *import_jobdir_why(const struct import_jobdir *j)
{
    return j->in_file ? import_queue_why(j->queue) : j->why;
}

bool import_jobdir_has_seen(const struct import_jobdir *j)
{
    return j->has_seen;
}

const char *import_jobdir_file(const struct import_jobdir *j)
{
    return buf_str(&j->path);
}

uint64_t import_jobdir_at(const struct import_jobdir *j)
{
    return j->in_file ? import_queue_at(j->queue) : 0;
}

/* ---- files ---- */

static enum import_said refuse(struct import_jobdir *j, const char *why)
{
    j->in_file = false;
    j->why = why;
    return IMPORT_REFUSED;
}

/* The number of a FIFO file, "q00012". False: it is none. */
static bool chunk_of(const char *name, unsigned long *out)
{
    char *end;

    if (name[0] != 'q' || name[1] < '0' || name[1] > '9')
        return false;
    errno = 0;
    *out = strtoul(name + 1, &end, 10);
    return errno == 0 && *end == '\0';
}

/* A priority, "-5", or "0s" for requests that the spider starts with. */
static bool is_priority(const char *name)
{
    size_t digits;

    name += *name == '-';
    digits = strspn(name, "0123456789");
    name += digits;
    name += *name == 's';
    return digits > 0 && *name == '\0';
}

static bool is_sqlite(int fd)
{
    char head[16];

    return pread(fd, head, sizeof head, 0) == (ssize_t)sizeof head &&
           memcmp(head, "SQLite format 3", sizeof head) == 0;
}

/* Takes `fd`. */
static enum import_said begin_file(struct import_jobdir *j, const char *name,
                                   int fd)
{
    const struct level *l = &j->levels[j->depth - 1];
    unsigned long chunk;

    if (chunk_of(name, &chunk) && chunk >= l->first_chunk) {
        import_queue_open(j->queue, fd, IMPORT_QUEUE_FIFO,
                          chunk == l->first_chunk ? l->first_at : 0);
        j->in_file = true;
        return IMPORT_NOTHING;
    }
    if (is_priority(name) && !is_sqlite(fd)) {
        import_queue_open(j->queue, fd, IMPORT_QUEUE_LIFO, 0);
        j->in_file = true;
        return IMPORT_NOTHING;
    }
    close(fd);
    if (chunk_of(name, &chunk))
        return IMPORT_NOTHING; /* all of it was taken */
    return refuse(j, is_priority(name) ? "a queue in SQLite is not read"
                                       : "not a file of a disk queue");
}

/* Enters a directory or begins a file. IMPORT_NOTHING: go on. */
static enum import_said begin(struct import_jobdir *j, const char *name)
{
    struct level *l = &j->levels[j->depth - 1];
    int fd = openat(dirfd(l->dir), name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;

    buf_truncate(&j->path, l->path_len);
    buf_addf(&j->path, "/%s", name);
    if (fd < 0)
        return refuse(j, "it cannot be opened");
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        return begin_file(j, name, fd);
    if (j->depth < DEPTH_MOST && S_ISDIR(info.st_mode) && enter(j, fd))
        return IMPORT_NOTHING;
    close(fd);
    return refuse(j, "neither a file nor a directory of a disk queue");
}

static bool is_ours(const char *name)
{
    return name[0] != '.' && strcmp(name, "active.json") != 0 &&
           strcmp(name, "info.json") != 0;
}

/* The next entry of the directories that are open. */
static enum import_said advance(struct import_jobdir *j)
{
    const struct dirent *e = readdir(j->levels[j->depth - 1].dir);

    if (e != NULL)
        return is_ours(e->d_name) ? begin(j, e->d_name) : IMPORT_NOTHING;
    closedir(j->levels[--j->depth].dir);
    return IMPORT_NOTHING;
}

enum import_said import_jobdir_next(struct import_jobdir *j,
                                    struct import_record *out)
{
    enum import_said said = IMPORT_NOTHING;

    while (said == IMPORT_NOTHING) {
        if (j->in_file) {
            said = import_queue_next(j->queue, out);
            j->in_file = said != IMPORT_NOTHING;
        } else if (j->depth > 0) {
            said = advance(j);
        } else {
            break;
        }
    }
    return said;
}
