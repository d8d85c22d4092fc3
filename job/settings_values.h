/*
 * settings_values.h - whether a value is what its option takes, each by itself;
 * for settings_check.c, which looks at options together.
 */
#ifndef URLWEIR_JOB_SETTINGS_VALUES_H
#define URLWEIR_JOB_SETTINGS_VALUES_H

#include "job/settings.h"

/* STATUS_ARG, and into `error` what is wrong: "--OPTION 'VALUE': WHAT". */
MUST_CHECK enum status settings_check_values(const struct crawl_settings *s,
                                             struct buf *error);
/* Says so of one; STATUS_ARG. */
enum status settings_refuse(struct buf *error, const char *option,
                            const char *value, const char *what);

#endif
