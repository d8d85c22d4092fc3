/* SPDX-License-Identifier: MIT */
/*
 * completion_bash.c - the completion for bash.
 *
 * Two functions of data, made from the tables, and one that walks over the
 * line. It needs nothing of the bash-completion package. Bash breaks words at
 * '=' and ':' too, so --scope=host is three words, and so is http://h/.
 */
#include "cli/completion/completion.h"

#define WORDS_MOST 4096

static const char head[] =
    "# Completion of urlweir for bash, made by `urlweir completion bash`.\n";

static const char walk[] =
    "_urlweir() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
    "    local command= kind= words= word n=0 at\n"
    "    COMPREPLY=()\n"
    "    for ((at = 1; at < COMP_CWORD; at++)); do\n"
    "        word=${COMP_WORDS[at]}\n"
    "        if [[ $command == '' ]]; then\n"
    "            command=$word\n"
    "            _urlweir_parts \"$command\"\n"
    "        elif [[ $words != '' && $command != *' '* ]]; then\n"
    "            command+=\" $word\"\n"
    "        elif [[ $word == : || ${COMP_WORDS[at - 1]} == : ]]; then\n"
    "            continue # the rest of a URL\n"
    "        elif [[ $word != -?* ]]; then\n"
    "            ((n++))\n"
    "        else\n"
    "            _urlweir_value \"$command\" \"$word\"\n"
    "            [[ $kind != '' ]] || continue\n"
    "            ((at++))\n"
    "            [[ ${COMP_WORDS[at]} != '=' ]] || ((at++))\n"
    "            ((at >= COMP_CWORD)) && break\n"
    "            kind= words=\n"
    "        fi\n"
    "    done\n"
    "    [[ $cur != '=' ]] || cur=\n"
    "    if [[ $kind != '' ]]; then\n"
    "        :\n"
    "    elif [[ $command == '' ]]; then\n"
    "        kind=words\n"
    "        _urlweir_parts ''\n"
    "    elif [[ $words != '' && $command != *' '* ]]; then\n"
    "        kind=words\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        kind=words\n"
    "        _urlweir_options \"$command\"\n"
    "    else\n"
    "        _urlweir_value \"$command\" \"$n\"\n"
    "    fi\n"
    "    _urlweir_reply\n"
    "}\n"
    "\n"
    "# What completes $cur, by $kind and $words.\n"
    "_urlweir_reply() {\n"
    "    local before\n"
    "    case $kind in\n"
    "    words) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") "
    ";;\n"
    "    list)\n"
    "        before=${cur%\"${cur##*,}\"}\n"
    "        mapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$words\" -- "
    "\"${cur##*,}\")\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        ;;\n"
    "    file | dir)\n"
    "        mapfile -t COMPREPLY < <(compgen -A \"${kind/dir/directory}\" -- "
    "\"$cur\")\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        ;;\n"
    "    esac\n"
    "    return 0\n"
    "}\n"
    "complete -F _urlweir urlweir\n";

static const char *const kind_names[] = {
    [COMPLETION_NONE] = "any",  [COMPLETION_WORDS] = "words",
    [COMPLETION_LIST] = "list", [COMPLETION_FILE] = "file",
    [COMPLETION_DIR] = "dir",
};

static void print_kind(FILE *to, enum completion_kind kind,
                       const struct buf *words)
{
    fprintf(to, ") kind=%s", kind_names[kind]);
    if (words->len > 0)
        fprintf(to, " words='%s'", buf_str(words));
    fputs(" ;;\n", to);
}

/* "crawl --depth" | "crawl -d") kind=words words='none ' ;; */
static void print_values(FILE *to, const char *name, const struct command *c)
{
    const struct usage *u = c->usage;
    enum completion_kind kind;
    bool last;
    struct buf words;

    buf_init(&words, WORDS_MOST);
    for (size_t i = 0; i < u->table->count; i++) {
        const struct option_spec *s = &u->table->spec[i];

        if (s->type == OPTION_FLAG || !completion_has(u, s))
            continue;
        buf_clear(&words);
        kind = completion_of_option(s, &words);
        fprintf(to, "    '%s --%s'", name, s->name);
        if (s->letter != 0)
            fprintf(to, " | '%s -%c'", name, s->letter);
        print_kind(to, kind, &words);
    }
    for (size_t at = 0;
         buf_clear(&words), completion_of_operand(u, at, &kind, &words, &last);
         at++) {
        fprintf(to, last ? "    '%s '[0-9]*" : "    '%s %zu'", name, at);
        print_kind(to, kind, &words);
    }
    buf_fini(&words);
}

static void print_options(FILE *to, const char *name, const struct command *c)
{
    const struct usage *u = c->usage;

    if (c->parts != NULL)
        return;
    fprintf(to, "    '%s') words='--help", name);
    for (size_t i = 0; i < u->table->count; i++) {
        const struct option_spec *s = &u->table->spec[i];

        if (!completion_has(u, s))
            continue;
        fprintf(to, " --%s", s->name);
        if (completion_has_no(u, s))
            fprintf(to, " --no-%s", s->name);
        if (s->letter != 0)
            fprintf(to, " -%c", s->letter);
    }
    fputs("' ;;\n", to);
}

static void print_names(FILE *to, const char *of, const struct command *table,
                        const char *others)
{
    fprintf(to, "    '%s') words='", of);
    for (const struct command *c = table; c->name != NULL; c++)
        fprintf(to, "%s ", c->name);
    fprintf(to, "%s' ;;\n", others);
}

static void print_parts(FILE *to)
{
    print_names(to, "", command_table, "help version --help --version");
    print_names(to, "help", command_table, "");
    for (const struct command *c = command_table; c->name != NULL; c++)
        if (c->parts != NULL)
            print_names(to, c->name, c->parts, "--help");
}

void completion_bash(FILE *to)
{
    fputs(head, to);
    fputs("\n# The commands, or the parts of a command that has some.\n"
          "_urlweir_parts() {\n    case $1 in\n",
          to);
    print_parts(to);
    fputs("    *) words= ;;\n    esac\n}\n"
          "\n# The options of a command.\n"
          "_urlweir_options() {\n    words=\n    case $1 in\n",
          to);
    completion_each(to, print_options);
    fputs("    esac\n}\n"
          "\n# What the value of an option, or operand N, of a command may "
          "be.\n"
          "_urlweir_value() {\n    kind= words=\n    case \"$1 $2\" in\n",
          to);
    completion_each(to, print_values);
    fprintf(to, "    esac\n}\n\n%s", walk);
}
