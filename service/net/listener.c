/* SPDX-License-Identifier: MIT */
/* listener.c - sockets that listen: at HOST:PORT, and at a path. */
#include "service/net/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/listen_address.h"
#include "base/logger.h"
#include "base/mem.h"

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

/* ---- connecting ---- */

static enum status connect_to(const struct sockaddr_un *to, int *fd)
{
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    enum status st;

    if (s < 0)
        return status_of_errno(errno);
    if (connect(s, (const struct sockaddr *)to, sizeof *to) == 0) {
        *fd = s;
        return STATUS_OK;
    }
    st = errno == ECONNREFUSED ? STATUS_CLOSED : status_of_errno(errno);
    close(s);
    return st;
}

enum status socket_file_connect(const char *path, int *fd)
{
    struct sockaddr_un to;
    const char *name;
    int dir = -1;
    enum status st = open_dir(path, &dir, &name);

    if (st == STATUS_OK)
        st = address_of(dir, name, path, &to);
    if (st == STATUS_OK)
        st = connect_to(&to, fd);
    if (dir >= 0)
        close(dir);
    return st;
}

/* ---- listening ---- */

/* Something is at the path: removes it if it is a socket on which no process
 * listens. */
static enum status remove_stale(const struct socket_file *s,
                                const struct sockaddr_un *at)
{
    struct stat is;
    enum status st;
    int fd = -1;

    if (fstatat(s->dir, s->name, &is, AT_SYMLINK_NOFOLLOW) != 0)
        return status_of_errno(errno);
    if (!S_ISSOCK(is.st_mode))
        return STATUS_EXISTS;
    st = connect_to(at, &fd);
    if (st == STATUS_OK)
        close(fd);
    if (st != STATUS_CLOSED)
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
