/* SPDX-License-Identifier: MIT */
#include "base/process/run_as.h"
#include "base/process/sandbox.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64], in[96], file[128], new[128];

static bool opens(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void make_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-run-as-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(in, sizeof in, "%s/in", dir);
    snprintf(file, sizeof file, "%s/in/file", dir);
    snprintf(new, sizeof new, "%s/new", dir);
    ck_assert_int_eq(mkdir(in, 0755), 0);
    ck_assert(opens(file, O_WRONLY | O_CREAT));
}

static void remove_dir(void)
{
    unlink(new);
    unlink(file);
    rmdir(in);
    rmdir(dir);
}

/* Runs it in a child, because there is no way back. */
static bool works(bool (*attempt)(void))
{
    pid_t pid = fork();
    int code;

    if (pid == 0)
        _exit(attempt() ? 0 : 1);
    ck_assert_int_eq(waitpid(pid, &code, 0), pid);
    return WIFEXITED(code) && WEXITSTATUS(code) == 0;
}

static const struct run_as nobody = {65534, 65534, false, "65534"};

static bool become_nobody(void)
{
    return run_as_become(&nobody, false) == STATUS_OK && geteuid() == 65534 &&
           getegid() == 65534 && setuid(0) != 0 &&
           !opens(new, O_WRONLY | O_CREAT);
}
static bool keep_little(void)
{
    run_as_root_with_little(false);
    return geteuid() == 0 && opens(file, O_WRONLY) &&
           mount("none", in, "tmpfs", 0, NULL) != 0 && setuid(65534) != 0;
}
FIXTURE(make_dir, remove_dir);

TEST(root_becomes_another_for_good_or_keeps_little)
{
    if (geteuid() != 0)
        return;
    ck_assert(works(become_nobody));
    ck_assert(works(keep_little));
}

TEST(a_user_has_a_name_or_a_number)
{
    struct run_as who;

    ck_assert_int_eq(run_as_named(&who, "no-such-user"), STATUS_NOT_FOUND);
    ck_assert_int_eq(run_as_named(&who, "-1"), STATUS_NOT_FOUND);
    ck_assert_int_eq(run_as_named(&who, ""), STATUS_NOT_FOUND);
    ck_assert_int_eq(run_as_named(&who, "4294967295"), STATUS_NOT_FOUND);
    ck_ok(run_as_named(&who, "0"));
    ck_assert_str_eq(who.name, "root");
    ck_ok(run_as_named(&who, "4294967001"));
    ck_assert_uint_eq(who.uid, 4294967001u);
}

TEST(what_another_user_could_not_use_is_named)
{
    const struct sandbox_path write_in = {in, SANDBOX_WRITE};
    const struct sandbox_path read_file = {file, SANDBOX_READ};
    const struct sandbox_path make_new = {new, SANDBOX_WRITE};
    char culprit[4096];

    if (geteuid() != 0)
        return;
    ck_assert_int_eq(chmod(dir, 0755), 0);
    ck_assert_int_eq(chmod(file, 0644), 0);
    ck_assert(!run_as_can_use(&nobody, &write_in, 1, culprit, sizeof culprit));
    ck_assert_str_eq(culprit, in);
    ck_assert_int_eq(chown(in, 65534, 65534), 0);
    ck_assert(!run_as_can_use(&nobody, &write_in, 1, culprit, sizeof culprit));
    ck_assert_str_eq(culprit, file);
    ck_assert(run_as_can_use(&nobody, &read_file, 1, culprit, sizeof culprit));
    ck_assert_int_eq(chmod(file, 0600), 0);
    ck_assert(!run_as_can_use(&nobody, &read_file, 1, culprit, sizeof culprit));
    ck_assert_int_eq(chown(file, 65534, 65534), 0);
    ck_assert(run_as_can_use(&nobody, &write_in, 1, culprit, sizeof culprit));
    ck_assert(!run_as_can_use(&nobody, &make_new, 1, culprit, sizeof culprit));
    ck_assert_str_eq(culprit, dir);
}
