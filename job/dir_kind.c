/* SPDX-License-Identifier: MIT */
/*
 * dir_kind.c - recognises directories by our marks: the settings file by its
 * name, a database by its application id (octets 68 to 71 of an SQLite file,
 * see https://www.sqlite.org/fileformat.html#application_id), a manifest by its
 * first word. A file that merely has one of our names is not ours.
 *
 * An interrupted start leaves no mark; it leaves temporary files and the lock
 * file, which is empty or has our note. We ignore them, so that the start can
 * be repeated, and also what may exist before a start: a link `warc`, crawls
 * for a service, `lost+found` of a new file system.
 */
#include "job/dir_kind.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/format.h"
#include "frontier/dedupe/dedupe.h"
#include "job/crawl_credentials.h"
#include "job/settings/settings.h"
#include "storage/db/schema.h"

#define SQLITE_ID_AT 68
#define MARK_SIZE    (SQLITE_ID_AT + 4)

/* ---- single files ---- */

/* Reads the first octets of DIR/NAME. Returns their number, or -1 on
 * failure. */
static ssize_t read_mark(const char *dir, const char *name, char *mark)
{
    char path[4096];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -1;
    n = read(fd, mark, MARK_SIZE);
    close(fd);
    return n;
}

static bool is_database(const char *dir, const char *name, uint32_t id)
{
    unsigned char mark[MARK_SIZE] = {0};
    const unsigned char *at = mark + SQLITE_ID_AT;

    return read_mark(dir, name, (char *)mark) == MARK_SIZE &&
           memcmp(mark, "SQLite format 3", 16) == 0 &&
           ((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
            (uint32_t)at[2] << 8 | at[3]) == id;
}

static bool is_manifest(const char *dir, const char *name)
{
    char mark[MARK_SIZE];
    ssize_t n = read_mark(dir, name, mark);

    return n > 0 &&
           bytes_starts_with(bytes_of(mark, (size_t)n), "urlweir-manifest ");
}

/* Empty, or "4711 crawl ...". */
static bool is_lock(const char *dir, const char *name)
{
    char mark[MARK_SIZE];
    ssize_t n = read_mark(dir, name, mark), i = 0;

    while (i < n && ascii_is_digit(mark[i]))
        i++;
    return n == 0 || (i > 0 && i < n && mark[i] == ' ');
}

/* WARC files may go elsewhere: the user makes that link before the crawl. */
static bool is_link(const char *dir, const char *name)
{
    char path[4096];
    struct stat sb;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return lstat(path, &sb) == 0 && S_ISLNK(sb.st_mode);
}

/* Does the directory hold only crawls, put there for a service? */
static bool holds_crawls(const char *dir, const char *name)
{
    const struct dirent *e;
    char path[4096], crawl[4096 + 256];
    bool only = true;
    DIR *d;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    d = opendir(path);
    while (d != NULL && only && (e = readdir(d)) != NULL) {
        snprintf(crawl, sizeof crawl, "%s/%s", path, e->d_name);
        only = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
               settings_are_in(crawl);
    }
    if (d != NULL)
        closedir(d);
    return d != NULL && only;
}

/* A service in a cluster makes this directory before its mark. */
static bool is_empty_dir(const char *dir, const char *name)
{
    const struct dirent *e;
    char path[4096];
    bool empty = true;
    DIR *d;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    d = opendir(path);
    while (d != NULL && empty && (e = readdir(d)) != NULL)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    if (d != NULL)
        closedir(d);
    return d != NULL && empty;
}

/* The id of a service: 32 hexadecimal digits. */
static bool has_shards(const char *dir)
{
    unsigned char id[16];
    char mark[MARK_SIZE];
    ssize_t n = read_mark(dir, DIR_SHARDS_NAME, mark);

    return n > 0 && bytes_from_hex(bytes_of(mark, (size_t)n), id, sizeof id);
}

/* May the file exist before there is a mark? */
static bool is_left_over(const char *dir, const char *name)
{
    if (strcmp(name, "lock") == 0 || strcmp(name, "dedupe.lock") == 0)
        return is_lock(dir, name);
    if (strcmp(name, "warc") == 0)
        return is_link(dir, name);
    if (strcmp(name, "crawls") == 0)
        return holds_crawls(dir, name);
    if (strcmp(name, "shards") == 0)
        return is_empty_dir(dir, name);
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
           strcmp(name, "lost+found") == 0 ||
           strcmp(name, SETTINGS_FILE ".tmp") == 0 ||
           strcmp(name, "manifest.tmp") == 0 ||
           strcmp(name, "filter.ckpt.tmp") == 0 ||
           strncmp(name, SETTINGS_SECRETS, sizeof SETTINGS_SECRETS - 1) == 0 ||
           strncmp(name, CRAWL_COOKIES, sizeof CRAWL_COOKIES - 1) == 0 ||
           strncmp(name, "frontier.db.new", 15) == 0 ||
           strncmp(name, "dedupe.db.new", 13) == 0;
}

/* ---- the directory ---- */

static bool is_free(const char *dir, struct buf *culprit)
{
    const struct dirent *e;
    DIR *d = opendir(dir);
    bool found = false;

    while (d != NULL && !found && (e = readdir(d)) != NULL) {
        found = !is_left_over(dir, e->d_name);
        if (found)
            buf_add_str(culprit, e->d_name);
    }
    if (d != NULL)
        closedir(d);
    return !found;
}

enum dir_kind dir_kind_of(const char *dir, struct buf *culprit)
{
    if (settings_are_in(dir))
        return DIR_CRAWL;
    if (is_database(dir, "dedupe.db", DEDUPE_APPLICATION_ID) ||
        is_manifest(dir, "dedupe.manifest"))
        return DIR_SET;
    if (is_database(dir, "frontier.db", SCHEMA_APPLICATION_ID) ||
        is_manifest(dir, "manifest"))
        return DIR_STORE;
    if (has_shards(dir))
        return DIR_SHARDS;
    return is_free(dir, culprit) ? DIR_FREE : DIR_OTHER;
}

/* ---- messages ---- */

static void say_other(const char *dir, const struct buf *culprit,
                      enum dir_kind wanted, struct buf *why)
{
    size_t n = strlen(dir);

    buf_add_str(why, " is not empty: ");
    format_terminal(why, buf_bytes(culprit));
    buf_add_str(why, " is in it, which is not urlweir's; nothing was written; "
                     "give a new or empty directory, such as ");
    format_terminal(why, bytes_of_str(dir));
    buf_addf(why, "%s%s", n > 0 && dir[n - 1] == '/' ? "" : "/",
             wanted == DIR_CRAWL ? "crawl"
             : wanted == DIR_SET ? "dedupe"
                                 : "service");
}

static void say_kind(enum dir_kind kind, enum dir_kind wanted, struct buf *why)
{
    static const char *const holds[] = {
        [DIR_CRAWL] = "a crawl of `urlweir crawl`",
        [DIR_STORE] = "the store of a service or of a crawl",
        [DIR_SET] = "a set of `urlweir dedupe`",
        [DIR_SHARDS] = "shards of `urlweir serve --cluster`",
    };
    static const char *const wants[] = {
        [DIR_CRAWL] = "a crawl",
        [DIR_STORE] = "a service",
        [DIR_SET] = "the set of --state",
        [DIR_SHARDS] = "a service in a cluster",
    };

    buf_addf(why, " holds %s; %s needs a directory of its own", holds[kind],
             wants[wanted]);
}

bool dir_kind_fits(const char *dir, enum dir_kind wanted, struct buf *why)
{
    struct buf culprit;
    enum dir_kind kind;
    bool fits;

    buf_init(&culprit, 1024);
    kind = dir_kind_of(dir, &culprit);
    fits = kind == DIR_FREE || kind == wanted ||
           (kind == DIR_STORE && wanted == DIR_CRAWL);
    if (!fits) {
        format_terminal(why, bytes_of_str(dir));
        if (kind == DIR_OTHER)
            say_other(dir, &culprit, wanted, why);
        else
            say_kind(kind, wanted, why);
    }
    buf_fini(&culprit);
    return fits;
}

bool dir_kind_check(const char *dir, enum dir_kind wanted, const char *command)
{
    struct buf why;
    bool fits;

    buf_init(&why, 65536);
    fits = dir_kind_fits(dir, wanted, &why);
    if (!fits)
        fprintf(stderr, "urlweir %s: %s\n", command, buf_str(&why));
    buf_fini(&why);
    return fits;
}
