/* SPDX-License-Identifier: MIT */
/* passing_crawl.c - a crawl that keeps nothing. */
#include "cli/run/passing_crawl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "cli/stop_signals.h"
#include "job/exit_code.h"

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

int passing_crawl(struct crawl_settings *s,
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
