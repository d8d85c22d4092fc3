/* SPDX-License-Identifier: MIT */
/*
 * completion.c - what a shell may complete, from the tables behind --help.
 *
 * The kinds of operands are read from the synopsis, so that there is no second
 * list of them that could say something else.
 */
#include "cli/completion/completion.h"

#include <string.h>

#include "base/bytes.h"

#define NAME_MOST 64

/* Names that values and operands have in the help. */
static const struct {
    const char *name;
    enum completion_kind kind;
} kinds[] = {
    {"DIR", COMPLETION_DIR},  {"OLD", COMPLETION_DIR},
    {"NEW", COMPLETION_DIR},  {"FILE", COMPLETION_FILE},
    {"OUT", COMPLETION_FILE},
};

/* "DIR|URL", "FILE.yaml", "FILE..." begin with their kind. */
static enum completion_kind kind_of_name(struct bytes name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].name);

        if (bytes_starts_with(name, kinds[i].name) &&
            (name.len == n || strchr("|.", name.at[n]) != NULL))
            return kinds[i].kind;
    }
    return COMPLETION_NONE;
}

enum completion_kind completion_of_option(const struct option_spec *s,
                                          struct buf *words)
{
    for (size_t i = 0; s->words != NULL && s->words[i] != NULL; i++)
        buf_addf(words, "%s ", s->words[i]);
    if (s->words != NULL)
        return s->type == OPTION_LIST ? COMPLETION_LIST : COMPLETION_WORDS;
    if (s->bare != NULL) {
        buf_addf(words, "%s ", s->bare);
        return COMPLETION_WORDS;
    }
    return s->arg != NULL ? kind_of_name(bytes_of_str(s->arg))
                          : COMPLETION_NONE;
}

/* ---- operands ---- */

/* Takes the next part of a synopsis; text in brackets is one part. */
static struct bytes next_part(const char **form)
{
    struct bytes part;
    int depth = 0;

    *form += strspn(*form, " ");
    part = bytes_of(*form, 0);
    for (; **form != '\0' && **form != '\n'; ++*form) {
        if (**form == ' ' && depth == 0)
            break;
        depth += **form == '[' || **form == '(';
        depth -= **form == ']' || **form == ')';
        part.len++;
    }
    return part;
}

/* The next operand of a synopsis, without brackets; empty: no more. */
static struct bytes next_operand(const char **form)
{
    for (;;) {
        struct bytes part = next_part(form);

        if (part.len == 0 || part.at[0] == '<')
            return bytes_of("", 0);
        if (part.at[0] == '-') {
            next_part(form); /* the value of an option that must be given */
            continue;
        }
        if (part.at[0] == '(' || bytes_starts_with(part, "[-") ||
            bytes_equal(part, bytes_of_str("[options]")))
            continue;
        if (part.at[0] == '[')
            part = bytes_of(part.at + 1, part.len - 2);
        return part;
    }
}

/* "bash|zsh|fish" are words, "HOST" and "N|none" are not. */
static bool add_words(struct bytes operand, struct buf *words)
{
    for (size_t i = 0; i < operand.len; i++)
        if (strchr("abcdefghijklmnopqrstuvwxyz|", operand.at[i]) == NULL)
            return false;
    for (size_t i = 0; i < operand.len; i++)
        buf_add_char(words, operand.at[i] == '|' ? ' ' : operand.at[i]);
    buf_add_char(words, ' ');
    return true;
}

bool completion_of_operand(const struct usage *u, size_t at,
                           enum completion_kind *kind, struct buf *words,
                           bool *last)
{
    const char *form = u->synopsis + strlen(u->name);
    struct bytes operand = next_operand(&form);

    for (; at > 0 && operand.len > 0; at--)
        operand = next_operand(&form);
    if (operand.len == 0)
        return false;
    *last =
        operand.len > 3 && memcmp(operand.at + operand.len - 3, "...", 3) == 0;
    *kind = kind_of_name(operand);
    if (*kind == COMPLETION_NONE && add_words(operand, words))
        *kind = COMPLETION_WORDS;
    return true;
}

/* ---- options and commands ---- */

bool completion_has(const struct usage *u, const struct option_spec *s)
{
    return (s->flags & (OPTION_FILE_ONLY | u->without)) == 0;
}

/* A switch that is on by default; and any, where settings of before are
 * changed. */
bool completion_has_no(const struct usage *u, const struct option_spec *s)
{
    bool on = s->fallback != NULL && strcmp(s->fallback, "true") == 0;

    return s->type == OPTION_FLAG &&
           (on || (u->without & OPTION_ON_START) != 0);
}

void completion_brief(struct buf *out, const struct option_spec *s)
{
    buf_add_bytes(out, bytes_of(s->help, strcspn(s->help, ";")));
}

void completion_each(FILE *to, completion_command *each)
{
    for (const struct command *c = command_table; c->name != NULL; c++) {
        const struct command *part = c->parts;

        each(to, c->name, c);
        for (; part != NULL && part->name != NULL; part++) {
            char name[NAME_MOST];

            snprintf(name, sizeof name, "%s %s", c->name, part->name);
            each(to, name, part);
        }
    }
}
