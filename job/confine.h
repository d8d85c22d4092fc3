/*
 * confine.h - what a command that meets the web may still do, in one place.
 *
 * crawl, resume and serve gather the paths that they were given, then give up
 * all other rights: root becomes the owner of the directory or --user, a helper
 * for reports is started (report_helper.h), and the sandbox is entered
 * (base/sandbox.h). What holds is said in the first line of the log and in the
 * note of the lock, where `urlweir status` reads it.
 *
 * One thread, before any other is started; confine_seal and confine_text from
 * any.
 */
#ifndef URLWEIR_JOB_CONFINE_H
#define URLWEIR_JOB_CONFINE_H

#include <stdbool.h>

#include "base/status.h"
#include "job/options.h"

struct confine;

/* For `urlweir COMMAND`, which writes below `dir`. */
struct confine *confine_new(const char *command, const char *dir);
void confine_free(struct confine *c); /* NULL is fine */

/* Paths; NULL, "-" and URLs are left out. */
void confine_read(struct confine *c, const char *path);
/* The same for one that is read again when it has been replaced: the directory
 * it stands in, and the one that a link leads to. */
void confine_read_again(struct confine *c, const char *path);
void confine_write(struct confine *c, const char *path);
/* HOST:PORT, to be listened on. */
void confine_listen(struct confine *c, const char *address);
/* All that the settings of a crawl name. */
void confine_settings(struct confine *c, const struct crawl_settings *s);

struct confine_choice {
    enum sandbox_choice sandbox;
    const char *user; /* NULL: the owner of the directory */
    bool make_dir;
    bool quiet; /* what holds is not said on stderr */
};

/* False: *code is the exit status, and why was said on stderr. */
MUST_CHECK bool confine_apply(struct confine *c, const struct confine_choice *o,
                              int *code);

/* All that listens does: see sandbox_seal. Nothing without a sandbox. */
void confine_seal(void);
/* "landlock 7, seccomp, user nobody"; NULL before confine_apply. */
const char *confine_text(void);

/* crawl and resume: all of the above but confine_seal. */
MUST_CHECK bool confine_crawl(const char *command,
                              const struct crawl_settings *s, int *code);

#endif
