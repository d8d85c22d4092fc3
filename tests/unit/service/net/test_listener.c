/* SPDX-License-Identifier: MIT */
/* Sockets at paths: who may connect, which files are replaced, what remains. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "service/net/listener.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static struct scratch at;
static char path[4096];

static void set_up(void)
{
    scratch_quiet();
    at = scratch_make();
    snprintf(path, sizeof path, "%s/control.sock", at.dir);
}

static void tear_down(void)
{
    scratch_remove(&at);
}

static enum status connects(const char *to)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char parent[4096];
    int dir, s = socket(AF_UNIX, SOCK_STREAM, 0);
    enum status st = STATUS_OK;

    snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(to, '/') - to), to);
    dir = open(parent, O_PATH);
    snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d%s", dir,
             strrchr(to, '/'));
    if (connect(s, (struct sockaddr *)&a, sizeof a) != 0)
        st = errno == ECONNREFUSED ? STATUS_CLOSED : status_of_errno(errno);
    close(dir);
    close(s);
    return st;
}

FIXTURE(set_up, tear_down);

TEST(it_is_its_owners_alone_whatever_the_umask)
{
    struct socket_file *s = NULL;
    struct stat is;
    mode_t before = umask(0);

    ck_ok(socket_file_open(&s, path));
    umask(before);
    ck_assert_int_eq(stat(path, &is), 0);
    ck_assert(S_ISSOCK(is.st_mode));
    ck_assert_uint_eq(is.st_mode & 0777, 0600);
    ck_ok(connects(path));
    socket_file_close(s);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(connects(path), STATUS_NOT_FOUND);
}

/* Leaves a socket as a killed process would. */
static void leave_one_behind(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(to.sun_path, sizeof to.sun_path, "%.100s", path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
    close(fd);
}

TEST(one_that_nobody_answers_at_is_replaced)
{
    struct socket_file *s = NULL;

    leave_one_behind();
    ck_assert_int_eq(connects(path), STATUS_CLOSED);
    ck_ok(socket_file_open(&s, path));
    ck_ok(connects(path));
    socket_file_close(s);
}

TEST(one_that_somebody_answers_at_is_left_to_him)
{
    struct socket_file *s = NULL, *other = NULL;

    ck_ok(socket_file_open(&s, path));
    ck_assert_int_eq(socket_file_open(&other, path), STATUS_BUSY);
    ck_ok(connects(path));
    socket_file_close(s);
}

TEST(a_file_that_is_no_socket_is_not_touched)
{
    struct socket_file *s = NULL;

    ck_ok(file_replace(path, bytes_of_str("mine")));
    ck_assert_int_eq(socket_file_open(&s, path), STATUS_EXISTS);
    unlink(path);
    ck_assert_int_eq(symlink("elsewhere", path), 0);
    ck_assert_int_eq(socket_file_open(&s, path), STATUS_EXISTS);
    unlink(path);
}

TEST(the_end_removes_no_file_of_somebody_elses)
{
    struct socket_file *s = NULL;

    ck_ok(socket_file_open(&s, path));
    unlink(path);
    ck_ok(file_replace(path, bytes_of_str("mine")));
    socket_file_close(s);
    ck_assert_int_eq(access(path, F_OK), 0);
    unlink(path);
}

/* sockaddr_un has room for 108 octets of path. */
TEST(a_path_may_be_longer_than_an_address)
{
    struct socket_file *s = NULL;
    char dir[2048];
    size_t n = (size_t)snprintf(dir, sizeof dir, "%s", at.dir), top = n;

    while (n < 900)
        n += (size_t)snprintf(dir + n, sizeof dir - n, "/%050d", 7);
    ck_ok(file_make_dir(dir));
    snprintf(path, sizeof path, "%s/control.sock", dir);
    ck_ok(socket_file_open(&s, path));
    ck_ok(connects(path));
    socket_file_close(s);
    for (; n > top; n -= 51) {
        dir[n] = '\0';
        ck_assert_int_eq(rmdir(dir), 0); /* empty: the socket is gone */
    }
}

TEST(what_is_no_path_is_refused)
{
    struct socket_file *s = NULL;

    ck_assert_int_eq(socket_file_open(&s, ""), STATUS_ARG);
    ck_assert_int_eq(socket_file_open(&s, "dir/"), STATUS_ARG);
    snprintf(path, sizeof path, "%s/%0100d", at.dir, 7);
    ck_assert_int_eq(socket_file_open(&s, path), STATUS_ARG);
    snprintf(path, sizeof path, "%s/none/control.sock", at.dir);
    ck_assert_int_eq(socket_file_open(&s, path), STATUS_NOT_FOUND);
}
