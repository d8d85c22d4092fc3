/*
 * files.h - directory trees as web sites.
 *
 * Files with the content type of their name, directories by their index.html or
 * a generated listing. The target of dots or symbolic links must be in the tree
 * or under /usr/share.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_FILES_H
#define URLWEIR_TESTS_SUPPORT_WEB_FILES_H

#include "base/status.h"
#include "tests/support/web/answer.h"

struct files;

struct files *files_new(void);
void files_free(struct files *f); /* NULL is fine */

/* `dir` at the next address number. STATUS_NOT_FOUND: no such directory. */
MUST_CHECK enum status files_add(struct files *f, const char *dir);

/* rq->host is the address number. */
void files_answer(const struct files *f, const struct request *rq,
                  struct answer *an);

#endif
