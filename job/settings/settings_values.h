/*
 * settings_values.h - checks the value of each option; settings_check.c checks
 * options together.
 */
#ifndef URLWEIR_JOB_SETTINGS_SETTINGS_VALUES_H
#define URLWEIR_JOB_SETTINGS_SETTINGS_VALUES_H

#include "job/settings/settings.h"

/* STATUS_ARG: `error` says what is wrong: "--OPTION 'VALUE': WHAT". */
MUST_CHECK enum status settings_check_values(const struct crawl_settings *s,
                                             struct buf *error);
/* Puts such a text into `error`; returns STATUS_ARG. */
enum status settings_refuse(struct buf *error, const char *option,
                            const char *value, const char *what);

#endif
