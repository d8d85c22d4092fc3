/* SPDX-License-Identifier: MIT */
/*
 * confine.c - chooses the paths and the user, and reports them.
 *
 * Root becomes the owner of the directory only if that user can use all named
 * paths, so that a run as root that worked before still works; with --user, a
 * missing right is an error.
 */
#include "job/crawl_jobs/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/kafka/kafka_address.h"
#include "base/mem.h"
#include "base/process/run_as.h"
#include "base/process/sandbox.h"
#include "job/crawl_jobs/report_helper.h"
#include "job/exit_code.h"

#define LINKS_MOST 64
#define PATH_LIMIT 4096

struct confine {
    const char *command, *dir;
    struct sandbox_path *paths;
    size_t count;
    bool low_ports, unix_sockets;
    char hint[PATH_LIMIT + 256]; /* why it is still root */
};

/* State of the process. */
static bool confined, needs_unix_sockets;
static char text[512];

/* ---- paths ---- */

struct confine *confine_new(const char *command, const char *dir)
{
    struct confine *c = xcalloc(1, sizeof *c);

    c->command = command;
    c->dir = dir;
    confine_write(c, dir);
    return c;
}

void confine_free(struct confine *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++)
        free((char *)c->paths[i].path);
    free(c->paths);
    free(c);
}

static void add(struct confine *c, const char *path, enum sandbox_use use)
{
    if (path == NULL || path[0] == '\0' || strcmp(path, "-") == 0 ||
        strstr(path, "://") != NULL)
        return;
    c->paths = xrealloc(c->paths, (c->count + 1) * sizeof *c->paths);
    c->paths[c->count++] = (struct sandbox_path){xstrdup(path), use};
}

void confine_read(struct confine *c, const char *path)
{
    add(c, path, SANDBOX_READ);
}

void confine_write(struct confine *c, const char *path)
{
    add(c, path, SANDBOX_WRITE);
}

static void add_above(struct confine *c, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *above = slash == NULL || slash == path
                      ? xstrdup(slash == NULL ? "." : "/")
                      : xstrndup(path, (size_t)(slash - path));

    add(c, above, SANDBOX_READ);
    free(above);
}

void confine_read_again(struct confine *c, const char *path)
{
    char *real;

    if (path == NULL)
        return;
    add(c, path, SANDBOX_READ);
    add_above(c, path);
    real = realpath(path, NULL);
    if (real != NULL)
        add_above(c, real);
    free(real);
}

void confine_listen(struct confine *c, const char *address)
{
    const char *colon = address != NULL ? strrchr(address, ':') : NULL;
    uint64_t port;

    c->low_ports |= colon != NULL &&
                    bytes_number(bytes_of_str(colon + 1), 1023, &port) &&
                    port > 0;
}

static bool is_unix_url(const char *url)
{
    return url != NULL && strncmp(url, "redis+unix:", 11) == 0;
}

void confine_settings(struct confine *c, const struct crawl_settings *s)
{
    confine_read(c, s->input);
    confine_read(c, s->block_filter);
    confine_read(c, s->block_exact);
    confine_read(c, s->rewrite);
    /* SQLite makes files beside a store that it reads. A path that is missing
     * would be made as a file. */
    if (s->since != NULL && access(s->since, F_OK) == 0)
        confine_write(c, s->since);
    confine_read(c, s->netrc);
    confine_read(c, s->cookies);
    confine_read(c, s->cert);
    confine_read(c, s->key);
    confine_read(c, s->cacert);
    if (s->jsonl == NULL || !kafka_address_is_url(s->jsonl))
        confine_write(c, s->jsonl);
    for (size_t i = 0; i < s->kafka_property.count; i++)
        confine_read(c, kafka_property_file(s->kafka_property.item[i]));
    confine_listen(c, s->metrics);
    c->unix_sockets |= is_unix_url(s->redis) || is_unix_url(s->block_filter);
}

/* The directory of WARC files may be a link to another disk. The sandbox does
 * not make links, so the user made this one. */
static void add_links(struct confine *c, const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    unsigned n = 0;

    while (d != NULL && n < LINKS_MOST && (e = readdir(d)) != NULL) {
        char path[PATH_LIMIT];
        struct stat sb;

        if (snprintf(path, sizeof path, "%s/%s", dir, e->d_name) >=
                PATH_LIMIT ||
            lstat(path, &sb) != 0 || !S_ISLNK(sb.st_mode))
            continue;
        confine_write(c, path);
        n++;
    }
    if (d != NULL)
        closedir(d);
}

static void add_all_links(struct confine *c)
{
    char path[PATH_LIMIT];
    const struct dirent *e;
    DIR *d;

    add_links(c, c->dir);
    snprintf(path, sizeof path, "%s/crawls", c->dir);
    d = opendir(path);
    while (d != NULL && (e = readdir(d)) != NULL) {
        snprintf(path, sizeof path, "%s/crawls/%s", c->dir, e->d_name);
        if (e->d_name[0] != '.')
            add_links(c, path);
    }
    if (d != NULL)
        closedir(d);
}

/* ---- the user ---- */

static bool refuse(const struct confine *c, const char *what, const char *name,
                   const char *behind)
{
    struct buf safe;

    buf_init(&safe, (size_t)4 * PATH_LIMIT);
    format_terminal(&safe, bytes_of_str(name));
    fprintf(stderr, "urlweir %s: %s%s%s\n", c->command, what, buf_str(&safe),
            behind);
    buf_fini(&safe);
    return false;
}

/* Becomes the user of --user, who gets a directory that was just made. */
static bool become_named(struct confine *c, const char *name, bool made)
{
    char culprit[PATH_LIMIT];
    struct run_as who;

    if (run_as_named(&who, name) != STATUS_OK)
        return refuse(c, "--user: there is no user ", name, "");
    if (geteuid() != 0)
        return who.uid == geteuid() ||
               refuse(c, "--user: only root can become ", name, "");
    if (made && chown(c->dir, who.uid, who.gid) != 0)
        return refuse(c, "--user: cannot give this directory away: ", c->dir,
                      "");
    if (!run_as_can_use(&who, c->paths, c->count, culprit, sizeof culprit))
        return refuse(c, "--user: that user cannot use ",
                      culprit[0] != '\0' ? culprit
                      : c->dir != NULL   ? c->dir
                                         : "a file",
                      "; change its owner or mode");
    if (run_as_become(&who, c->low_ports) != STATUS_OK)
        return refuse(c, "--user: cannot become ", name, "");
    return true;
}

/* True: the process has become another user. */
static bool become_owner(struct confine *c)
{
    char culprit[PATH_LIMIT];
    struct run_as who;
    struct stat sb;

    if (c->dir == NULL || stat(c->dir, &sb) != 0)
        return false;
    if (sb.st_uid == 0) {
        snprintf(c->hint, sizeof c->hint,
                 " (the directory belongs to root; --user NAME chooses "
                 "another user)");
        return false;
    }
    run_as_numbered(&who, sb.st_uid, sb.st_gid);
    if (run_as_can_use(&who, c->paths, c->count, culprit, sizeof culprit))
        return run_as_become(&who, c->low_ports) == STATUS_OK;
    snprintf(c->hint, sizeof c->hint,
             " (%s, whose directory it is, could not use %s)", who.name,
             culprit[0] != '\0' ? culprit : "it");
    return false;
}

static bool choose_user(struct confine *c, const struct confine_choice *o,
                        bool made)
{
    if (o->user != NULL)
        return become_named(c, o->user, made);
    if (geteuid() == 0 && o->sandbox == SANDBOX_ON && !become_owner(c))
        run_as_root_with_little(c->low_ports);
    return true;
}

/* ---- all of it ---- */

/* The kernel's rules need existing files. */
static void make_files(struct confine *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct stat sb;
        int fd;

        if (c->paths[i].use != SANDBOX_WRITE ||
            stat(c->paths[i].path, &sb) == 0 || errno != ENOENT)
            continue;
        fd = open(c->paths[i].path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                  0644);
        if (fd >= 0)
            close(fd);
    }
}

static void write_text(void)
{
    struct run_as who;

    run_as_numbered(&who, geteuid(), getegid());
    snprintf(text, sizeof text, "%s, user %s", sandbox_text(), who.name);
}

static void enter(struct confine *c)
{
    const struct sandbox_options o = {.paths = c->paths,
                                      .path_count = c->count};

    make_files(c);
    report_helper_start(c->paths, c->count);
    /* keeps temporary files out of system directories */
    if (c->dir != NULL)
        (void)setenv("SQLITE_TMPDIR", c->dir, 0);
    sandbox_enter(&o);
    confined = true;
    needs_unix_sockets = c->unix_sockets;
}

bool confine_apply(struct confine *c, const struct confine_choice *o, int *code)
{
    struct stat sb;
    bool there = c->dir == NULL || stat(c->dir, &sb) == 0;

    *code = EXIT_CANNOT;
    if (!there && !o->make_dir)
        return true; /* the command has a better message */
    if (o->make_dir && c->dir != NULL && file_make_dir(c->dir) != STATUS_OK)
        return true;
    if (c->dir != NULL)
        add_all_links(c);
    confine_write(c, getenv("SQLITE_TMPDIR"));
    if (!choose_user(c, o, !there))
        return false;
    if (o->sandbox == SANDBOX_ON)
        enter(c);
    write_text();
    if (!o->quiet)
        refuse(c, "sandbox: ", text, c->hint);
    return true;
}

void confine_seal(void)
{
    if (confined)
        sandbox_seal(needs_unix_sockets);
}

const char *confine_text(void)
{
    return text[0] != '\0' ? text : NULL;
}

/* Did the user of this run set the option? The crawl can write its own settings
 * file, so a value from there must not grant rights. */
static bool is_said(const struct crawl_settings *s, const char *option)
{
    return option_given(&crawl_options,
                        option_find(&crawl_options, bytes_of_str(option)), s);
}

bool confine_crawl(const char *command, const struct crawl_settings *s,
                   int *code)
{
    const struct confine_choice o = {
        .sandbox = is_said(s, "sandbox") ? s->sandbox : SANDBOX_ON,
        .user = is_said(s, "user") ? s->user : NULL,
        .make_dir = strcmp(command, "crawl") == 0,
        .quiet = s->quiet,
    };
    struct confine *c = confine_new(command, s->output);
    bool good;

    confine_settings(c, s);
    good = confine_apply(c, &o, code);
    confine_free(c);
    return good;
}
