/* SPDX-License-Identifier: MIT */
/*
 * control_place.c - finds the process that runs in a directory.
 *
 * We check the lock before the socket, since a killed process leaves a socket
 * that nothing listens on. The address of a Unix socket has room for 107
 * octets, so a longer path goes through a descriptor of its directory.
 */
#include "cli/control/control_place.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/format.h"
#include "base/kafka/kafka_address.h"
#include "base/mem.h"
#include "job/crawl_jobs/confine.h"
#include "job/settings/settings.h"

#define NOTE_MOST 2048

static char *join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", dir, name);
    return path;
}

static bool is_there(const char *dir, const char *name)
{
    char *path = join(dir, name);
    bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

static long holder_of(const char *dir)
{
    char *path = join(dir, "lock");
    long holder = 0;

    if (file_lock_holder(path, &holder) != STATUS_OK)
        holder = 0;
    free(path);
    return holder;
}

static enum status explain_status(enum status st, struct buf *why,
                                  const char *before, const char *name,
                                  const char *behind)
{
    buf_add_str(why, before);
    format_terminal(why, bytes_of_str(name));
    buf_add_str(why, behind);
    return st;
}

/* ---- the note in the lock: "123 serve http=127.0.0.1:7072 sandbox: off" -- */

#define NOTE_SANDBOX " sandbox: "

static void read_note(const char *dir, struct buf *note)
{
    char *path = join(dir, "lock");

    if (file_read(path, note) != STATUS_OK)
        buf_clear(note);
    free(path);
}

void control_note(struct buf *out, const char *what, const char *address,
                  bool tls)
{
    buf_add_str(out, what);
    if (address != NULL)
        buf_addf(out, " %s=%s", tls ? "https" : "http", address);
    if (confine_text() != NULL)
        buf_addf(out, NOTE_SANDBOX "%s", confine_text());
}

bool control_note_sandbox(const char *dir, struct buf *out)
{
    const char *at = NULL;
    struct buf note;

    buf_init(&note, NOTE_MOST);
    read_note(dir, &note);
    if (note.len > 0)
        at = strstr(buf_str(&note), NOTE_SANDBOX);
    if (at != NULL) {
        at += strlen(NOTE_SANDBOX);
        format_terminal(out, bytes_of(at, strcspn(at, "\n")));
    }
    buf_fini(&note);
    return at != NULL;
}

/* The first word after the process id is the command. */
static bool note_is(const struct buf *note, const char *command)
{
    const char *at = strchr(buf_str(note), ' ');
    size_t n = strlen(command);

    return at != NULL && strncmp(at + 1, command, n) == 0 &&
           strchr(" \n", at[1 + n]) != NULL;
}

/* "http://127.0.0.1:7072" out of " http=127.0.0.1:7072", or NULL. */
static char *note_url(const struct buf *note)
{
    static const char *const schemes[] = {"http", "https"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char key[16], url[300];
        const char *at;

        snprintf(key, sizeof key, " %s=", schemes[i]);
        at = strstr(buf_str(note), key);
        if (at == NULL)
            continue;
        at += strlen(key);
        snprintf(url, sizeof url, "%s://%.*s", schemes[i],
                 (int)strcspn(at, " \n"), at);
        return xstrdup(url);
    }
    return NULL;
}

/* ---- the socket ---- */

static bool has_socket(const char *dir)
{
    char *path = join(dir, CONTROL_SOCKET);
    struct stat sb;
    bool there = stat(path, &sb) == 0 && S_ISSOCK(sb.st_mode);

    free(path);
    return there;
}

static void take_socket(struct control_place *p)
{
    char through[64];

    p->url = xstrdup("http://localhost");
    p->socket = join(p->dir, CONTROL_SOCKET);
    if (strlen(p->socket) < sizeof((struct sockaddr_un *)0)->sun_path)
        return;
    p->dir_fd = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p->dir_fd < 0)
        return;
    snprintf(through, sizeof through, "/proc/self/fd/%d/" CONTROL_SOCKET,
             p->dir_fd);
    free(p->socket);
    p->socket = xstrdup(through);
}

/* ---- a directory ---- */

static enum status nobody(const char *dir, struct buf *why)
{
    struct stat sb;

    if (stat(dir, &sb) != 0 && errno != ENOENT) {
        explain_status(STATUS_OK, why, "cannot read ", dir, ": ");
        buf_add_str(why, strerror(errno));
        return STATUS_IO;
    }
    if (stat(dir, &sb) != 0)
        return explain_status(STATUS_NOT_FOUND, why, "there is no directory ",
                              dir, "");
    if (settings_are_in(dir)) {
        explain_status(STATUS_OK, why, "no crawl runs in ", dir,
                       "; go on with ");
        return explain_status(STATUS_NOT_FOUND, why, "`urlweir resume ", dir,
                              "`");
    }
    if (is_there(dir, "frontier.db")) {
        explain_status(STATUS_OK, why, "no service runs in ", dir,
                       "; start it with ");
        return explain_status(STATUS_NOT_FOUND, why, "`urlweir serve ", dir,
                              "`");
    }
    return explain_status(STATUS_NOT_FOUND, why, "no crawl in ", dir, "");
}

/* Splits SERVICE/crawls/NAME into *service and *crawl, which the caller
 * frees. */
static bool is_within_service(const char *dir, char **service, char **crawl)
{
    char *path = realpath(dir, NULL);
    char *name = path != NULL ? strrchr(path, '/') : NULL;
    char *above = NULL;

    if (name != NULL) {
        *name++ = '\0';
        above = strrchr(path, '/');
    }
    if (above == NULL || strcmp(above, "/crawls") != 0) {
        free(path);
        return false;
    }
    *above = '\0';
    *crawl = xstrdup(name);
    *service = xstrdup(path[0] != '\0' ? path : "/");
    free(path);
    return true;
}

/* Finds how to reach the process that holds p->dir. */
static enum status reach_holder(struct control_place *p, struct buf *why)
{
    struct buf note;
    enum status st = STATUS_OK;

    buf_init(&note, NOTE_MOST);
    read_note(p->dir, &note);
    p->service = note_is(&note, "serve");
    if (has_socket(p->dir)) {
        take_socket(p);
    } else if ((p->url = note_url(&note)) == NULL) {
        buf_addf(why, "process %ld has ", p->process);
        st = explain_status(
            STATUS_BUSY, why, "", p->dir,
            " and takes no commands: it is starting or ending, or could not "
            "make its socket there, and then it said so; ");
        buf_addf(why, "`kill %ld` stops it", p->process);
    }
    buf_fini(&note);
    return st;
}

static enum status find_dir(struct control_place *p, const char *dir,
                            struct buf *why)
{
    char *service = NULL;

    if (is_within_service(dir, &service, &p->crawl) &&
        (p->process = holder_of(service)) != 0) {
        p->dir = service;
        return reach_holder(p, why);
    }
    free(service);
    free(p->crawl);
    p->crawl = NULL;
    p->process = holder_of(dir);
    if (p->process == 0)
        return nobody(dir, why);
    p->dir = xstrdup(dir);
    return reach_holder(p, why);
}

/* ---- a URL ---- */

static bool is_url(const char *where)
{
    return strncmp(where, "http://", 7) == 0 ||
           strncmp(where, "https://", 8) == 0;
}

static bool has_part(CURLU *u, CURLUPart part)
{
    char *text = NULL;
    bool there = curl_url_get(u, part, &text, 0) == CURLUE_OK;

    curl_free(text);
    return there;
}

static enum status find_url(struct control_place *p, const char *url,
                            struct buf *why)
{
    CURLU *u = curl_url();
    enum status st = STATUS_OK;
    size_t n = strlen(url);

    if (u == NULL || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
        st = explain_status(
            STATUS_ARG, why, "'", url,
            "' is not the URL of a service, such as http://127.0.0.1:7072");
    else if (has_part(u, CURLUPART_USER) || has_part(u, CURLUPART_PASSWORD))
        st = explain_status(
            STATUS_ARG, why, "", "the URL has a name or password in it",
            ", where other users can see it; give a token with --token-file");
    else if (has_part(u, CURLUPART_QUERY) || has_part(u, CURLUPART_FRAGMENT))
        st = explain_status(
            STATUS_ARG, why, "'", url,
            "' has a query or fragment; give the service's address alone");
    curl_url_cleanup(u);
    while (n > 0 && url[n - 1] == '/')
        n--;
    p->url = xstrndup(url, n);
    return st;
}

/* ---- */

/* The URL of a worker's crawl, or NULL. */
static char *kafka_of(const char *where)
{
    struct crawl_settings s;
    struct buf error;
    char *url = NULL;

    if (kafka_address_is_url(where))
        return xstrdup(where);
    if (is_url(where) || !settings_are_in(where))
        return NULL;
    settings_init(&s);
    buf_init(&error, 4096);
    if (settings_load(&s, where, &error) == STATUS_OK && s.cluster != NULL)
        url = xstrdup(s.cluster);
    buf_fini(&error);
    settings_fini(&s);
    return url;
}

static enum status find(struct control_place *p, const char *where,
                        struct buf *why)
{
    p->kafka = kafka_of(where);
    if (p->kafka == NULL)
        return is_url(where) ? find_url(p, where, why)
                             : find_dir(p, where, why);
    if (!kafka_address_is_url(where))
        p->worker = xstrdup(where);
    p->url = xstrdup(p->kafka);
    return STATUS_OK;
}

enum status control_place_find(struct control_place *out, const char *where,
                               struct buf *why)
{
    struct control_place p = {.dir_fd = -1};
    enum status st = find(&p, where, why);

    if (st == STATUS_OK)
        *out = p;
    else
        control_place_fini(&p);
    return st;
}

void control_place_fini(struct control_place *p)
{
    free(p->url);
    free(p->socket);
    free(p->dir);
    free(p->crawl);
    free(p->kafka);
    free(p->worker);
    if (p->dir_fd >= 0)
        close(p->dir_fd);
}

bool control_place_is_stopped(const char *where)
{
    struct control_place p;
    struct buf why;
    enum status st;

    if (is_url(where))
        return false;
    buf_init(&why, NOTE_MOST + 65536);
    st = control_place_find(&p, where, &why);
    if (st == STATUS_OK)
        control_place_fini(&p);
    buf_fini(&why);
    return st == STATUS_NOT_FOUND && settings_are_in(where);
}

bool control_place_is_left(const struct control_place *p)
{
    return p->dir == NULL || holder_of(p->dir) != p->process;
}
