/*
 * value.h - the value of one option, read from text and written as text.
 *
 * For option.c, which knows the address `at` of the field.
 */
#ifndef URLWEIR_CONFIG_VALUE_H
#define URLWEIR_CONFIG_VALUE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/option.h"

/* `fresh`: a list drops its old items. STATUS_FORMAT as in option_set. */
MUST_CHECK enum status value_set(const struct option_spec *s, void *at,
                                 bool fresh, struct bytes text,
                                 struct buf *error);
size_t value_items(const struct option_spec *s, const void *at);
void value_text(const struct option_spec *s, const void *at, size_t item,
                struct buf *out);
/* For texts and lists: frees and empties the value; makes a copy in *to, which
 * is overwritten. Other types: do nothing. */
void value_free(const struct option_spec *s, void *at);
void value_copy(const struct option_spec *s, void *to, const void *from);

#endif
