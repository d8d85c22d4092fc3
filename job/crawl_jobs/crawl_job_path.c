/* SPDX-License-Identifier: MIT */
/*
 * crawl_job_path.c - checks the paths that clients of a service name.
 *
 * A path is walked name by name with O_NOFOLLOW, so that neither `..` nor a
 * symbolic link leads out; openat2(2) could accept links that stay inside, but
 * many containers refuse it. A process that may change the directory could
 * still put a link there between this check and the use; a client of the
 * service cannot.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/crawl_jobs/crawl_jobs_impl.h"

#define PATH_NAMES 32

static enum status refuse(struct buf *why, const char *what)
{
    buf_add_str(why, what);
    return STATUS_ARG;
}

/* Copies the next name of *path into `name`; false: there is none, or it is not
 * valid. */
static bool next_name(const char **path, char *name, size_t size)
{
    size_t n = strcspn(*path, "/");

    if (n == 0 || n >= size)
        return false;
    memcpy(name, *path, n);
    name[n] = '\0';
    *path += n;
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Checks for a plain file, or, if it may be new, for none. */
static enum status check_last(int dir, const char *name, bool is_new,
                              struct buf *why)
{
    struct stat s;

    if (fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT && is_new
                   ? STATUS_OK
                   : refuse(why, "the service's directory has no such file");
    return S_ISREG(s.st_mode) ? STATUS_OK
                              : refuse(why, "it is not a plain "
                                            "file");
}

enum status crawl_job_path(const char *base, const char *path, bool is_new,
                           struct buf *out, struct buf *why)
{
    const char *at = path;
    enum status st = STATUS_AGAIN;
    char name[256];
    int dir;

    if (base == NULL)
        return refuse(why, "requests to this process cannot name files");
    if (path[0] == '/' || path[0] == '-')
        return refuse(why,
                      "a path must be relative to the service's directory");
    dir = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; dir >= 0 && st == STATUS_AGAIN; i++) {
        int next;

        if (i == PATH_NAMES || !next_name(&at, name, sizeof name)) {
            st = refuse(why, "it is not a path inside the service's directory");
        } else if (*at == '\0') {
            st = check_last(dir, name, is_new, why);
        } else {
            next = openat(dir, name,
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            close(dir);
            dir = next;
            at++;
        }
    }
    if (dir < 0)
        return refuse(why, "the service's directory has no such directory");
    close(dir);
    if (st == STATUS_OK)
        buf_addf(out, "%s/%s", base, path);
    return st;
}
