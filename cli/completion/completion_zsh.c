/* SPDX-License-Identifier: MIT */
/* completion_zsh.c - the completion for zsh: a list of _arguments for each
 * command. */
#include "cli/completion/completion.h"

#include <string.h>

#define TEXT_MOST 8192

static const char head[] =
    "#compdef urlweir\n"
    "# Completion of urlweir for zsh, made by `urlweir completion zsh`.\n"
    "_urlweir() {\n"
    "    local command\n"
    "    if (( CURRENT == 2 )); then\n"
    "        _urlweir_names ''\n"
    "        return\n"
    "    fi\n"
    "    command=$words[2]\n"
    "    shift words\n"
    "    (( CURRENT-- ))\n"
    "    if (( CURRENT == 2 )) && _urlweir_names $command; then\n"
    "        return\n"
    "    fi\n"
    "    case $command in\n";

/* A file that compinit finds is the function itself; `source` defines it. */
static const char tail[] = "if [[ $funcstack[1] == _urlweir ]]; then\n"
                           "    _urlweir \"$@\"\n"
                           "else\n"
                           "    compdef _urlweir urlweir\n"
                           "fi\n";

/* Adds text for between single quotes, where `special` has a meaning. */
static void add_quoted(struct buf *out, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buf_add_str(out, "'\\''");
            continue;
        }
        if (strchr(special, *text) != NULL)
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
}

/* ":FILE:_files", ":scope:(seed host)" */
static void add_action(struct buf *out, const char *what,
                       enum completion_kind kind, const struct buf *words)
{
    buf_add_char(out, ':');
    add_quoted(out, what, ":\\");
    buf_add_char(out, ':');
    if (kind == COMPLETION_WORDS)
        buf_addf(out, "(%s)", buf_str(words));
    else if (kind == COMPLETION_LIST)
        buf_addf(out, "_values -s , %s %s", what, buf_str(words));
    else if (kind == COMPLETION_FILE)
        buf_add_str(out, "_files");
    else if (kind == COMPLETION_DIR)
        buf_add_str(out, "_files -/");
    buf_add_char(out, '\'');
}

/* One argument of _arguments: a form of the option, what it says, its value. */
static void print_form(FILE *to, const struct option_spec *s, const char *form)
{
    struct buf text, words, brief;
    enum completion_kind kind;

    buf_init(&text, TEXT_MOST);
    buf_init(&words, TEXT_MOST);
    buf_init(&brief, TEXT_MOST);
    completion_brief(&brief, s);
    buf_addf(&text, " \\\n            '%s%s[",
             s->type == OPTION_LIST ? "*" : "", form);
    add_quoted(&text, buf_str(&brief), "[]:\\");
    buf_add_char(&text, ']');
    if (s->type == OPTION_FLAG) {
        buf_add_char(&text, '\'');
    } else {
        kind = completion_of_option(s, &words);
        add_action(&text, s->arg != NULL ? s->arg : s->name, kind, &words);
    }
    fputs(buf_str(&text), to);
    buf_fini(&brief);
    buf_fini(&words);
    buf_fini(&text);
}

static void print_option(FILE *to, const struct usage *u,
                         const struct option_spec *s)
{
    bool flag = s->type == OPTION_FLAG;
    char form[80];

    snprintf(form, sizeof form, "--%s%s", s->name, flag ? "" : "=");
    print_form(to, s, form);
    if (s->letter != 0) {
        snprintf(form, sizeof form, "-%c%s", s->letter, flag ? "" : "+");
        print_form(to, s, form);
    }
    if (completion_has_no(u, s)) {
        snprintf(form, sizeof form, "--no-%s", s->name);
        print_form(to, s, form);
    }
}

static void print_operands(FILE *to, const struct usage *u)
{
    struct buf text, words;
    enum completion_kind kind;
    bool last = false;

    buf_init(&text, TEXT_MOST);
    buf_init(&words, TEXT_MOST);
    for (size_t at = 0;
         !last && completion_of_operand(u, at, &kind, &words, &last); at++) {
        if (kind == COMPLETION_NONE)
            continue; /* a message in its place would hide the options */
        buf_clear(&text);
        if (last)
            buf_add_str(&text, "'*");
        else
            buf_addf(&text, "'%zu", at + 1);
        add_action(&text, "operand", kind, &words);
        fprintf(to, " \\\n            %s", buf_str(&text));
        buf_clear(&words);
    }
    buf_fini(&words);
    buf_fini(&text);
}

static void print_command(FILE *to, const char *name, const struct command *c)
{
    const struct usage *u = c->usage;

    if (c->parts != NULL) {
        fprintf(to,
                "    %s)\n"
                "        command+=\" $words[2]\"\n"
                "        shift words\n"
                "        (( CURRENT-- ))\n"
                "        ;;\n"
                "    esac\n"
                "    case $command in\n",
                name);
        return;
    }
    fprintf(to,
            "    '%s')\n        _arguments -s : \\\n"
            "            '(- *)'{-h,--help}'[print the options]'",
            name);
    for (size_t i = 0; i < u->table->count; i++)
        if (completion_has(u, &u->table->spec[i]))
            print_option(to, u, &u->table->spec[i]);
    print_operands(to, u);
    fputs("\n        ;;\n", to);
}

static void print_names(FILE *to, const char *of, const struct command *table)
{
    struct buf text;

    buf_init(&text, TEXT_MOST);
    for (const struct command *c = table; c->name != NULL; c++) {
        buf_addf(&text, " \\\n            '%s:", c->name);
        add_quoted(&text, c->summary, ":\\");
        buf_add_char(&text, '\'');
    }
    fprintf(to, "    '%s') names=(%s\n        ) ;;\n", of, buf_str(&text));
    buf_fini(&text);
}

void completion_zsh(FILE *to)
{
    fputs(head, to);
    completion_each(to, print_command);
    fputs("    esac\n}\n"
          "\n# Completes the commands, or the parts of a command.\n"
          "_urlweir_names() {\n"
          "    local -a names\n    case $1 in\n",
          to);
    print_names(to, "", command_table);
    print_names(to, "help", command_table);
    for (const struct command *c = command_table; c->name != NULL; c++)
        if (c->parts != NULL)
            print_names(to, c->name, c->parts);
    fprintf(to,
            "    *) return 1 ;;\n    esac\n"
            "    _describe command names\n}\n\n%s",
            tail);
}
