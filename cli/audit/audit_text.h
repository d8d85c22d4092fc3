/* audit_text.h - an audit as text for people, and as JSON for programs. */
#ifndef URLWEIR_CLI_AUDIT_AUDIT_TEXT_H
#define URLWEIR_CLI_AUDIT_AUDIT_TEXT_H

#include <stdio.h>

#include "frontier/audit/audit.h"

/* `what`: the directory or file that was audited. */
void audit_print_text(FILE *to, const struct audit *a, const char *what);
/* docs/formats/audit.md */
void audit_print_json(FILE *to, const struct audit *a, const char *what);

double audit_bits_per_key(const struct audit_step *s);

#endif
