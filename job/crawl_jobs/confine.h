/*
 * confine.h - limits the rights of a command that reads from the web.
 *
 * crawl, resume and serve collect the paths that they were given, then give up
 * all other rights: root becomes the owner of the directory or --user, a helper
 * for reports starts (report_helper.h), and the process enters the sandbox
 * (base/process/sandbox.h). The first line of the log and the note in the lock
 * file say what is in force; `urlweir status` reads the note.
 *
 * One thread, before any other starts; confine_seal and confine_text from any.
 */
#ifndef URLWEIR_JOB_CRAWL_JOBS_CONFINE_H
#define URLWEIR_JOB_CRAWL_JOBS_CONFINE_H

#include <stdbool.h>

#include "base/status.h"
#include "job/settings/options.h"

struct confine;

/* For `urlweir COMMAND`, which writes below `dir`; NULL: nowhere. */
struct confine *confine_new(const char *command, const char *dir);
void confine_free(struct confine *c); /* NULL is fine */

/* Allow a path; NULL, "-" and URLs are ignored. */
void confine_read(struct confine *c, const char *path);
/* Like confine_read, for a file that is read again after it was replaced:
 * allows its directory, and the directory that a link leads to. */
void confine_read_again(struct confine *c, const char *path);
void confine_write(struct confine *c, const char *path);
/* HOST:PORT to listen on. */
void confine_listen(struct confine *c, const char *address);
/* Allows every path that the settings of a crawl name. */
void confine_settings(struct confine *c, const struct crawl_settings *s);

struct confine_choice {
    enum sandbox_choice sandbox;
    const char *user; /* NULL: the owner of the directory */
    bool make_dir;
    bool quiet; /* do not say on stderr what is in force */
};

/* False: *code is the exit status, and the error was printed on stderr. */
MUST_CHECK bool confine_apply(struct confine *c, const struct confine_choice *o,
                              int *code);

/* Call it when everything listens: see sandbox_seal. Does nothing without a
 * sandbox. */
void confine_seal(void);
/* "landlock 7, seccomp, user nobody"; NULL before confine_apply. */
const char *confine_text(void);

/* All of the above but confine_seal, for crawl and resume. */
MUST_CHECK bool confine_crawl(const char *command,
                              const struct crawl_settings *s, int *code);

#endif
