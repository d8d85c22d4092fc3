/* SPDX-License-Identifier: MIT */
/* listener.c - sockets that listen: at HOST:PORT, and at a path. */
#include "service/net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/listen_address.h"
#include "base/logger.h"
#include "base/mem.h"

/* ---- limits the connections of a port ----
 *
 * The strangers of one address are counted by a scan over all strangers: there
 * are some hundreds at most, and a new connection costs more than the scan.
 */

#define ADDRESS_LEAST 16
#define WARN_EVERY    (60 * NS_PER_S)

void places_init(struct places *p, unsigned most, unsigned address_most)
{
    *p = (struct places){.most = most, .kind_most = most - most / 4};
    p->address_most = most / 8 > ADDRESS_LEAST ? most / 8 : ADDRESS_LEAST;
    if (address_most > 0)
        p->address_most = address_most;
    TAILQ_INIT(&p->strangers);
    TAILQ_INIT(&p->known);
}

/* ---- addresses ---- */

static void read_v4(struct place *place, const uint8_t octets[4])
{
    memset(place->from + 10, 0xff, 2); /* IPv4-mapped (RFC 4291 2.5.5.2) */
    memcpy(place->from + 12, octets, 4);
    place->shared = octets[0] == 127;
}

static void read_v6(struct place *place, const struct in6_addr *a)
{
    if (IN6_IS_ADDR_V4MAPPED(a))
        read_v4(place, a->s6_addr + 12);
    else
        memcpy(place->from, a->s6_addr, 8);
    place->shared = place->shared || IN6_IS_ADDR_LOOPBACK(a);
}

static void read_address(struct place *place, const struct sockaddr *from)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (from != NULL && from->sa_family == AF_INET) {
        memcpy(&v4, from, sizeof v4);
        read_v4(place, (const uint8_t *)&v4.sin_addr);
    } else if (from != NULL && from->sa_family == AF_INET6) {
        memcpy(&v6, from, sizeof v6);
        read_v6(place, &v6.sin6_addr);
    } else {
        place->shared = true;
    }
}

/* The oldest stranger from that address, if the address is at its limit. */
static struct place *one_too_many(const struct places *p,
                                  const struct place *place)
{
    struct place *oldest = NULL;
    unsigned n = 0;

    if (place->shared)
        return NULL;
    for (struct place *at = TAILQ_FIRST(&p->strangers); at != NULL;
         at = TAILQ_NEXT(at, link)) {
        if (at->shared || memcmp(at->from, place->from, sizeof at->from) != 0)
            continue;
        if (oldest == NULL)
            oldest = at;
        n++;
    }
    return n >= p->address_most ? oldest : NULL;
}

/* ---- places ---- */

static void warn(struct places *p, int64_t now, enum place_end why)
{
    places_count(p, why);
    if (p->warned != 0 && now - p->warned < WARN_EVERY)
        return;
    p->warned = now;
    log_warn("too many connections, some are closed",
             "why=%s connections=%u most=%u without_token=%u",
             place_end_name(why), p->count, p->most, p->stranger_count);
}

/* NULL: none but `except` is known. */
static struct place *oldest_known(const struct places *p,
                                  const struct place *except)
{
    struct place *oldest = NULL;

    for (struct place *at = TAILQ_FIRST(&p->known); at != NULL;
         at = TAILQ_NEXT(at, link)) {
        if (at == except)
            continue;
        if (!at->busy)
            return at;
        if (oldest == NULL)
            oldest = at;
    }
    return oldest;
}

/* With fewer than four places all may be known, and the next caller still finds
 * one. */
static struct place *one_for_another(struct places *p, int64_t now)
{
    struct place *out = TAILQ_FIRST(&p->strangers);

    if (p->count < p->most && p->stranger_count < p->kind_most)
        return NULL;
    warn(p, now, out != NULL ? PLACE_CROWDED : PLACE_FULL);
    return out != NULL ? out : oldest_known(p, NULL);
}

struct place *places_take(struct places *p, struct place *place,
                          const struct sockaddr *from, int64_t now)
{
    struct place *out;

    read_address(place, from);
    out = one_too_many(p, place);
    if (out != NULL)
        warn(p, now, PLACE_ADDRESS);
    else
        out = one_for_another(p, now);
    if (out != NULL)
        places_leave(p, out);
    place->is = PLACE_STRANGER;
    TAILQ_INSERT_TAIL(&p->strangers, place, link);
    p->stranger_count++;
    p->count++;
    return out;
}

struct place *places_know(struct places *p, struct place *place, int64_t now)
{
    struct place *out = NULL;

    if (place->is != PLACE_STRANGER)
        return NULL;
    TAILQ_REMOVE(&p->strangers, place, link);
    p->stranger_count--;
    place->is = PLACE_KNOWN;
    TAILQ_INSERT_TAIL(&p->known, place, link);
    if (p->count - p->stranger_count > p->kind_most) {
        out = oldest_known(p, place);
        warn(p, now, PLACE_FULL);
    }
    if (out != NULL)
        places_leave(p, out);
    return out;
}

void places_use(struct places *p, struct place *place)
{
    place->busy = true;
    if (place->is != PLACE_KNOWN)
        return;
    TAILQ_REMOVE(&p->known, place, link);
    TAILQ_INSERT_TAIL(&p->known, place, link);
}

void places_rest(struct place *place)
{
    place->busy = false;
}

void places_leave(struct places *p, struct place *place)
{
    if (place->is == PLACE_NONE)
        return;
    if (place->is == PLACE_STRANGER) {
        TAILQ_REMOVE(&p->strangers, place, link);
        p->stranger_count--;
    } else {
        TAILQ_REMOVE(&p->known, place, link);
    }
    place->is = PLACE_NONE;
    p->count--;
}

/* ---- counts ---- */

void places_count(struct places *p, enum place_end why)
{
    atomic_fetch_add_explicit(&p->ended[why], 1, memory_order_relaxed);
}

uint64_t places_counted(const struct places *p, enum place_end why)
{
    return atomic_load_explicit(&p->ended[why], memory_order_relaxed);
}

const char *place_end_name(enum place_end why)
{
    static const char *const names[PLACE_ENDS_] = {
        [PLACE_FULL] = "full",       [PLACE_CROWDED] = "crowded",
        [PLACE_ADDRESS] = "address", [PLACE_SLOW] = "slow",
        [PLACE_IDLE] = "idle",       [PLACE_SILENT] = "silent",
        [PLACE_FLOOD] = "flood",
    };

    return names[why];
}

#define BACKLOG 1024

static enum status resolve(const char *listen_at, struct addrinfo **found)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct bytes host, port;
    char *name, *service;
    int rc = EAI_NONAME;

    if (!listen_address_split(bytes_of_str(listen_at), &host, &port)) {
        log_error("not an address to listen on",
                  "address=\"%s\" want=HOST:PORT", listen_at);
        return STATUS_ARG;
    }
    name = xstrndup(host.at, host.len);
    service = xstrndup(port.at, port.len);
    rc = getaddrinfo(name, service, &hints, found);
    free(name);
    free(service);
    if (rc == 0)
        return STATUS_OK;
    log_error("not an address to listen on", "address=\"%s\" why=\"%s\"",
              listen_at, gai_strerror(rc));
    return STATUS_ARG;
}

static enum status bind_to(const char *listen_at, const struct addrinfo *a,
                           int *fd)
{
    int on = 1;

    *fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return status_of_errno(errno);
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(*fd, a->ai_addr, a->ai_addrlen) != 0 ||
        listen(*fd, BACKLOG) != 0) {
        enum status st =
            errno == EADDRINUSE ? STATUS_BUSY : status_of_errno(errno);

        log_error("cannot listen", "address=\"%s\" why=\"%s\"", listen_at,
                  strerror(errno));
        return st;
    }
    return STATUS_OK;
}

static void find_address(int fd, char address[LISTENER_ADDRESS_SIZE])
{
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof at;
    char host[INET6_ADDRSTRLEN], port[8];

    if (getsockname(fd, (struct sockaddr *)&at, &len) != 0 ||
        getnameinfo((struct sockaddr *)&at, len, host, sizeof host, port,
                    sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    snprintf(address, LISTENER_ADDRESS_SIZE,
             at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

enum status listener_open(const char *listen_at, int *fd,
                          char address[LISTENER_ADDRESS_SIZE])
{
    struct addrinfo *found = NULL;
    enum status st = resolve(listen_at, &found);

    *fd = -1;
    if (st != STATUS_OK)
        return st;
    st = bind_to(listen_at, found, fd);
    freeaddrinfo(found);
    if (st == STATUS_OK) {
        find_address(*fd, address);
        return STATUS_OK;
    }
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return st;
}

/* ---- bind, listen and connect relative to the directory ----
 *
 * The directory is opened, and the address is /proc/self/fd/N/NAME, which is
 * short for any path; without /proc the path itself is used.
 *
 * Mode: Linux gives a new socket file the mode of the socket's own inode, less
 * the umask, so fchmod() before bind() restricts it from the start, and without
 * changing the umask of the whole process.
 */

#define SOCKET_BACKLOG 128
#define NAME_MOST      80

struct socket_file {
    int dir, fd;
    char *name;
    dev_t device; /* of the file that was made */
    ino_t inode;
};

/* ---- addresses ---- */

/* The directory of `path`, opened, and its last part within `path`. */
static enum status open_dir(const char *path, int *dir, const char **name)
{
    const char *slash = strrchr(path, '/');
    char *parent;

    *name = slash != NULL ? slash + 1 : path;
    if (**name == '\0' || strlen(*name) > NAME_MOST)
        return STATUS_ARG;
    if (slash == NULL)
        parent = xstrdup(".");
    else
        parent = xstrndup(path, slash == path ? 1 : (size_t)(slash - path));
    *dir = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(parent);
    return *dir >= 0 ? STATUS_OK : status_of_errno(errno);
}

static enum status address_of(int dir, const char *name, const char *path,
                              struct sockaddr_un *out)
{
    char by_number[40];
    int n;

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(by_number, sizeof by_number, "/proc/self/fd/%d", dir);
    if (access(by_number, F_OK) == 0)
        n = snprintf(out->sun_path, sizeof out->sun_path, "%s/%s", by_number,
                     name);
    else
        n = snprintf(out->sun_path, sizeof out->sun_path, "%s", path);
    return n > 0 && (size_t)n < sizeof out->sun_path ? STATUS_OK : STATUS_ARG;
}

/* ---- listening ---- */

/* STATUS_OK: a process listens there; STATUS_CLOSED: none does. */
static enum status try_connect(const struct sockaddr_un *to)
{
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    enum status st = STATUS_OK;

    if (s < 0)
        return status_of_errno(errno);
    if (connect(s, (const struct sockaddr *)to, sizeof *to) != 0)
        st = errno == ECONNREFUSED ? STATUS_CLOSED : status_of_errno(errno);
    close(s);
    return st;
}

/* Something is at the path: removes it if it is a socket on which no process
 * listens. */
static enum status remove_stale(const struct socket_file *s,
                                const struct sockaddr_un *at)
{
    struct stat is;

    if (fstatat(s->dir, s->name, &is, AT_SYMLINK_NOFOLLOW) != 0)
        return status_of_errno(errno);
    if (!S_ISSOCK(is.st_mode))
        return STATUS_EXISTS;
    if (try_connect(at) != STATUS_CLOSED)
        return STATUS_BUSY;
    return unlinkat(s->dir, s->name, 0) == 0 ? STATUS_OK
                                             : status_of_errno(errno);
}

static int bind_once(int fd, const struct sockaddr_un *at)
{
    return bind(fd, (const struct sockaddr *)at, sizeof *at);
}

static enum status socket_bind(struct socket_file *s,
                               const struct sockaddr_un *at)
{
    struct stat is;
    enum status st = STATUS_OK;

    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || fchmod(s->fd, S_IRUSR | S_IWUSR) != 0)
        return status_of_errno(errno);
    if (bind_once(s->fd, at) != 0) {
        st = errno == EADDRINUSE ? remove_stale(s, at) : status_of_errno(errno);
        if (st == STATUS_OK && bind_once(s->fd, at) != 0)
            st = status_of_errno(errno);
    }
    if (st != STATUS_OK)
        return st;
    if (fstatat(s->dir, s->name, &is, AT_SYMLINK_NOFOLLOW) != 0)
        return status_of_errno(errno);
    s->device = is.st_dev;
    s->inode = is.st_ino;
    if ((is.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return STATUS_IO; /* this kernel does not honour fchmod() */
    return listen(s->fd, SOCKET_BACKLOG) == 0 ? STATUS_OK
                                              : status_of_errno(errno);
}

enum status socket_file_open(struct socket_file **out, const char *path)
{
    struct socket_file *s = xcalloc(1, sizeof *s);
    struct sockaddr_un at;
    const char *name = NULL;
    enum status st;

    s->fd = -1;
    s->dir = -1;
    st = open_dir(path, &s->dir, &name);
    if (st == STATUS_OK) {
        s->name = xstrdup(name);
        st = address_of(s->dir, name, path, &at);
    }
    if (st == STATUS_OK)
        st = socket_bind(s, &at);
    if (st != STATUS_OK) {
        log_error("cannot listen", "socket=\"%s\" why=\"%s\"", path,
                  status_text(st));
        socket_file_close(s);
        return st;
    }
    *out = s;
    return STATUS_OK;
}

int socket_file_fd(const struct socket_file *s)
{
    return s->fd;
}

void socket_file_close(struct socket_file *s)
{
    struct stat is;

    if (s == NULL)
        return;
    if (s->inode != 0 &&
        fstatat(s->dir, s->name, &is, AT_SYMLINK_NOFOLLOW) == 0 &&
        is.st_dev == s->device && is.st_ino == s->inode)
        unlinkat(s->dir, s->name, 0);
    if (s->fd >= 0)
        close(s->fd);
    if (s->dir >= 0)
        close(s->dir);
    free(s->name);
    free(s);
}
