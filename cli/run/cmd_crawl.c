/* SPDX-License-Identifier: MIT */
/*
 * cmd_crawl.c - `urlweir crawl`: a new crawl in a directory.
 */
#include "cli/run/cmd_crawl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/run/cluster_worker.h"
#include "cli/run/crawl_run.h"
#include "cli/stop_signals.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/reader.h"
#include "job/crawl_credentials.h"
#include "job/crawl_jobs/confine.h"
#include "job/crawl_setup.h"
#include "job/dir_kind.h"
#include "job/exit_code.h"
#include "job/jsonl.h"
#include "job/seed_sink.h"
#include "job/settings/settings.h"
#include "job/settings_applied.h"

/* ---- a new crawl in a directory: its place, and its seeds ---- */

/* Stores all seeds, and the mark. On failure, which was reported, *code is the
 * exit status. */
static enum status crawl_begin_seeds(struct frontier *f, struct crawl_setup *c,
                                     struct crawl_settings *s, int *code)
{
    enum status st;

    stop_signals_unblock(); /* a pipe may have no end */
    st = seed_sink_all(f, c, s);
    stop_signals_block();
    *code = EXIT_CANNOT;
    if (st == STATUS_NOT_FOUND || st == STATUS_IO)
        return st;
    fault_point("seeds-read");
    if (st == STATUS_OK)
        st = crawl_credentials_keep_logins(c, s);
    if (st == STATUS_OK)
        st = settings_note_first(f, s, c->form);
    if (st == STATUS_OK)
        st = frontier_set_meta(f, "seeds_complete", bytes_of_str("1"));
    if (st == STATUS_OK)
        st = frontier_checkpoint_now(f, "running", false, clock_mono(),
                                     clock_wall_ms());
    if (st != STATUS_OK)
        fprintf(stderr, "urlweir crawl: cannot store the seeds: %s\n",
                status_text(st));
    return st;
}

/* A crawl that has not stored all of its seeds has fetched nothing and is
 * started over. */
bool crawl_begin_may(const char *dir, const char *command)
{
    static const char *const names[] = {"frontier.db", "manifest"};
    bool there = false;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        there |= access(path, F_OK) == 0;
    }
    if (there && reader_is_unbegun(dir)) {
        fprintf(stderr,
                "urlweir %s: the crawl in %s had not stored all of "
                "its seeds and is started over\n",
                command, dir);
        crawl_remove_files(dir);
        return true;
    }
    if (there && !dir_is_service(dir, command))
        fprintf(stderr,
                "urlweir %s: %s holds a crawl already; continue it with "
                "`urlweir resume %s`, or choose another directory\n",
                command, dir, dir);
    return !there;
}

/* ---- a crawl that keeps nothing ---- */

static bool make_dir(struct crawl_settings *s)
{
    const char *below = getenv("TMPDIR");
    struct buf path;

    buf_init(&path, 4096);
    buf_addf(&path, "%s/urlweir-XXXXXX",
             below != NULL && below[0] != '\0' ? below : "/tmp");
    s->output = xstrdup(buf_str(&path));
    buf_fini(&path);
    if (mkdtemp(s->output) != NULL)
        return true;
    fprintf(stderr, "urlweir crawl: cannot make a directory %s: %s\n",
            s->output, strerror(errno));
    return false;
}

/* The child: ends with its parent, so that nothing writes to a directory that
 * nobody removes. */
static void run(struct crawl_settings *s, pid_t parent,
                int (*crawl)(struct crawl_settings *s))
{
    int code = EXIT_CANNOT;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
        code = crawl(s);
    if (fflush(stdout) != 0 && code == EXIT_DONE)
        code = EXIT_CANNOT;
    _exit(code);
}

/* A terminal's signals reach the child by themselves. */
static void pass_on(pid_t child, const siginfo_t *info)
{
    if (info->si_code == SI_USER || info->si_code == SI_TKILL ||
        info->si_code == SI_QUEUE)
        (void)kill(child, info->si_signo);
}

static int wait_for(pid_t child)
{
    int status = 0;
    sigset_t set;

    stop_signals(&set);
    sigaddset(&set, SIGCHLD);
    while (waitpid(child, &status, WNOHANG) == 0) {
        siginfo_t info;

        if (sigwaitinfo(&set, &info) > 0 && info.si_signo != SIGCHLD)
            pass_on(child, &info);
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    fprintf(stderr, "urlweir crawl: ended by signal %d\n", WTERMSIG(status));
    return EXIT_CANNOT;
}

/* Sets s->output and runs `crawl` in the child. Returns its exit status. */
static int passing_crawl(struct crawl_settings *s,
                         int (*crawl)(struct crawl_settings *s))
{
    pid_t parent = getpid(), child;
    int code = EXIT_CANNOT;
    sigset_t ends;

    s->passing = true;
    if (!make_dir(s))
        return code;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &ends, NULL); /* it is waited for */
    child = fork();
    if (child == 0) {
        pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
        run(s, parent, crawl);
    }
    if (child > 0)
        code = wait_for(child);
    else
        fprintf(stderr, "urlweir crawl: %s\n", strerror(errno));
    if (file_remove_tree(s->output) != STATUS_OK)
        fprintf(stderr, "urlweir crawl: cannot remove %s\n", s->output);
    return code;
}

static int crawl_in(struct crawl_settings *s, struct crawl_setup *c,
                    struct file_lock *lock)
{
    const struct jsonl_options lines = jsonl_options_of(s);
    struct crawl_control *control = NULL;
    struct frontier *f = NULL;
    int code = EXIT_CANNOT;
    enum status st;

    if (!crawl_begin_may(s->output, "crawl") || !jsonl_may_begin(&lines))
        return EXIT_CANNOT;
    st = settings_save(s); /* marks DIR as a crawl's */
    if (st == STATUS_OK && (!crawl_block_start(c, s, &code) ||
                            !crawl_credentials_start(c, s, &code))) {
        crawl_remove_files(s->output);
        return code;
    }
    if (st == STATUS_OK &&
        !crawl_control_open(&control, "crawl", s, lock, &code)) {
        crawl_remove_files(s->output);
        return code;
    }
    if (st == STATUS_OK)
        st = frontier_create(&f, s->output, &c->frontier, clock_wall_ms());
    if (st != STATUS_OK) {
        crawl_control_close(control);
        return crawl_open_failed(st, s->output);
    }
    c->fetch.rules.digest_key = frontier_get_digest_key(f);
    st = crawl_begin_seeds(f, c, s, &code);
    if (st == STATUS_OK)
        code = crawl_run(c, f, s, control);
    crawl_control_close(control);
    frontier_close(f);
    if (st != STATUS_OK)
        crawl_remove_files(s->output); /* nothing was fetched */
    return code;
}

static int crawl(struct crawl_settings *s)
{
    struct crawl_setup c;
    struct file_lock *lock = NULL;
    int code = EXIT_DONE;

    if (crawl_setup_init(&c, s, &code) && confine_crawl("crawl", s, &code) &&
        crawl_lock(s->output, "crawl", &lock, &code))
        code = crawl_in(s, &c, lock);
    file_lock_free(lock);
    crawl_setup_fini(&c);
    return code;
}

int cmd_crawl(int argc, char **argv)
{
    struct crawl_settings s;
    int code = EXIT_DONE;

    if (!settings_of_crawl(&s, argc, argv, &code))
        return code;
    secret_args_hide(argc, argv, &s);
    stop_signals_block();
    if (s.cluster != NULL)
        code = dir_kind_check(s.output, DIR_CRAWL, "crawl")
                   ? cluster_worker_run("crawl", CLUSTER_CREATE, &s)
                   : EXIT_CANNOT;
    else if (s.output == NULL)
        code = passing_crawl(&s, crawl);
    else
        code = dir_kind_check(s.output, DIR_CRAWL, "crawl") ? crawl(&s)
                                                            : EXIT_CANNOT;
    settings_fini(&s);
    return code;
}
