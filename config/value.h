/*
 * value.h - the value of one option, read from text and written as text.
 *
 * For option.c, which knows where in the settings the field `at` stands.
 */
#ifndef URLWEIR_CONFIG_VALUE_H
#define URLWEIR_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/option.h"

/* `fresh`: a list drops what it held. STATUS_FORMAT as option_set says. */
MUST_CHECK enum status value_set(const struct option_spec *s, void *at,
                                 bool fresh, struct bytes text,
                                 struct buf *error);
size_t value_items(const struct option_spec *s, const void *at);
void value_text(const struct option_spec *s, const void *at, size_t item,
                struct buf *out);
/* Texts and lists: free and empty; a copy of its own in *to, which is
 * overwritten. Other types: nothing. */
void value_free(const struct option_spec *s, void *at);
void value_copy(const struct option_spec *s, void *to, const void *from);

#endif
