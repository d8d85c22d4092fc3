/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "tests/unit/storage/scratch.h"
#include "tests/unit/unit.h"

static char dir[64];

static void make_dir(void)
{
    strcpy(dir, "/tmp/urlweir-file-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void remove_dir(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}

static const char *in_dir(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void expect(const char *name, const char *content)
{
    struct buf b;

    buf_init(&b, 1000);
    ck_ok(file_read(in_dir(name), &b));
    ck_assert_str_eq(buf_str(&b), content);
    buf_fini(&b);
}

FIXTURE(make_dir, remove_dir);

TEST(replacing_is_whole_or_not_at_all)
{
    struct file_writer *w = NULL;

    ck_ok(file_replace(in_dir("a"), bytes_of_str("old")));
    ck_ok(file_writer_open(&w, in_dir("a")));
    ck_ok(file_writer_write(w, "new", 3));
    expect("a", "old");
    file_writer_close(w); /* not committed */
    expect("a", "old");
    ck_assert_int_eq(access(in_dir("a.tmp"), F_OK), -1);
    ck_ok(file_replace(in_dir("a"), bytes_of_str("new")));
    expect("a", "new");
}

/* Each name is in a directory that has been synced since, also that of one that
 * is there: whoever made it may have been killed before. */
TEST(the_name_of_a_directory_is_synced)
{
    unsigned before = scratch_dir_syncs;

    ck_ok(file_make_dir(in_dir("one/two/three/")));
    ck_assert_uint_eq(scratch_dir_syncs - before, 3);
    ck_assert_int_eq(access(in_dir("one/two/three"), F_OK), 0);
    ck_ok(file_make_dir(in_dir("one/two/three")));
    ck_assert_uint_eq(scratch_dir_syncs - before, 4);
    scratch_no_sync = true;
    ck_assert_int_eq(file_make_dir(in_dir("four")), STATUS_IO);
    scratch_no_sync = false;
    ck_ok(file_replace(in_dir("five"), bytes_of_str("a file")));
    ck_assert_int_eq(file_make_dir(in_dir("five")), STATUS_EXISTS);
}

/* Promise (Crashes): a full disk is reported, and nothing is lost. See also
 * `db/a_full_disk_is_said_once_and_is_final_until_reopened`. */
TEST(a_full_disk_is_told_apart)
{
    struct file_writer *w = NULL;

    ck_assert_int_eq(symlink("/dev/full", in_dir("b.tmp")), 0);
    ck_ok(file_writer_open(&w, in_dir("b")));
    ck_assert_int_eq(file_writer_write(w, "x", 1), STATUS_FULL);
    ck_assert_int_eq(file_writer_commit(w), STATUS_FULL);
    file_writer_close(w);
    ck_assert_int_eq(access(in_dir("b"), F_OK), -1);
}

TEST(reading_is_bounded_and_says_what_is_missing)
{
    struct buf b;

    buf_init(&b, 2);
    ck_ok(file_replace(in_dir("c"), bytes_of_str("abc")));
    ck_assert_int_eq(file_read(in_dir("c"), &b), STATUS_LIMIT);
    ck_assert_int_eq(file_read(in_dir("none"), &b), STATUS_NOT_FOUND);
    buf_fini(&b);
}

/* Promise (Crashes): one process at a time has a directory, also when its lock
 * file is removed; files that may hold secrets are readable by their owner
 * alone. See also `tests/cli/files.sh`. */
/* Promise (Crashes): a second process on a directory is refused. See also
 * `tests/cli/signals.sh`. */
TEST(a_lock_names_its_holder_and_dies_with_it)
{
    struct file_lock *l = NULL;
    int ready[2], status;
    long holder = 0;
    char c;
    pid_t child;

    ck_assert_int_eq(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        if (file_lock_take(&l, in_dir("lock"), "test", NULL) != STATUS_OK)
            _exit(1);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    ck_assert_int_eq(file_lock_take(&l, in_dir("lock"), "test", &holder),
                     STATUS_BUSY);
    ck_assert_int_eq(holder, child);
    /* A new file of that name is not another lock either. */
    ck_assert_int_eq(unlink(in_dir("lock")), 0);
    for (int i = 0; i < 2; i++) {
        holder = 0;
        ck_assert_int_eq(file_lock_take(&l, in_dir("lock"), "test", &holder),
                         STATUS_BUSY);
        ck_assert_int_eq(holder, child);
        ck_ok(file_lock_holder(in_dir("lock"), &holder));
        ck_assert_int_eq(holder, child);
        ck_ok(file_replace(in_dir("lock"), bytes_of_str("1 x\n")));
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ck_ok(file_lock_holder(in_dir("lock"), &holder));
    ck_assert_int_eq(holder, 0);
    ck_ok(file_lock_take(&l, in_dir("lock"), "test", &holder));
    file_lock_free(l);
    close(ready[0]);
    close(ready[1]);
}

/* Returns 0 if another process may have the lock, 1 if it may not. */
static int other_is_refused(const char *path)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        struct file_lock *l = NULL;

        _exit(file_lock_take(&l, path, "other", NULL) == STATUS_BUSY);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WEXITSTATUS(status);
}

/* Promise (The service): a running crawl is paused, slowed, limited, seeded and
 * stopped from the shell, by its directory or the URL of its service; only the
 * directory's owner gets in without a token; what a killed process leaves
 * misleads no command. See also `tests/cli/steer.sh`. */
/* fcntl(2): closing any descriptor of a file ends the process's locks on it. */
TEST(a_holder_that_asks_who_holds_a_lock_does_not_lose_it)
{
    struct file_lock *l = NULL, *second = NULL;
    long holder = 0;

    ck_ok(file_lock_take(&l, in_dir("lock"), "test", NULL));
    ck_ok(file_lock_holder(in_dir("lock"), &holder));
    ck_assert_int_eq(holder, getpid());
    ck_assert_int_eq(file_lock_take(&second, in_dir("lock"), "again", &holder),
                     STATUS_BUSY);
    ck_assert_int_eq(holder, getpid());
    ck_assert_int_eq(other_is_refused(in_dir("lock")), 1);
    file_lock_free(l);
    ck_assert_int_eq(other_is_refused(in_dir("lock")), 0);
}

TEST(a_file_that_is_replaced_keeps_its_mode)
{
    struct stat info;

    ck_ok(file_replace(in_dir("a"), bytes_of_str("x")));
    ck_assert_int_eq(chmod(in_dir("a"), 0640), 0);
    ck_ok(file_replace(in_dir("a"), bytes_of_str("y")));
    ck_assert_int_eq(stat(in_dir("a"), &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0640);
}

TEST(a_private_file_is_its_owners_also_over_what_a_crash_left)
{
    struct stat info;

    ck_ok(file_replace(in_dir("a.tmp"), bytes_of_str("left")));
    ck_ok(file_replace_private(in_dir("a"), bytes_of_str("x")));
    ck_assert_int_eq(stat(in_dir("a"), &info), 0);
    ck_assert_int_eq(info.st_mode & 0777, 0600);
}

TEST(a_tree_is_removed_and_nothing_that_its_links_name)
{
    char other[128], tree[128];

    snprintf(other, sizeof other, "%s", in_dir("other"));
    snprintf(tree, sizeof tree, "%s", in_dir("tree"));
    ck_ok(file_make_dir(in_dir("tree/deep/er")));
    ck_ok(file_make_dir(other));
    ck_ok(file_replace(in_dir("other/kept"), bytes_of_str("x")));
    ck_ok(file_replace(in_dir("tree/deep/f"), bytes_of_str("x")));
    ck_assert_int_eq(symlink(other, in_dir("tree/link")), 0);
    ck_ok(file_remove_tree(tree));
    ck_assert_int_ne(access(tree, F_OK), 0);
    ck_ok(file_remove_tree(tree)); /* missing is fine */
    ck_assert_int_eq(symlink(other, tree), 0);
    ck_assert_int_ne(file_remove_tree(tree), STATUS_OK);
    expect("other/kept", "x");
}
