/* SPDX-License-Identifier: MIT */
/* steer.c - what the commands that steer a running crawl share. */
#include "cli/control/steer.h"

#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/json_fields.h"
#include "cli/command.h"
#include "cli/secret_args.h"
#include "frontier/url/url.h"

#define WHY_MOST   ((size_t)64 << 10)
#define HOST_MOST  4096
#define NAMES_MOST 20 /* crawls listed in an error, at most */

bool steer_begin(struct steer *t, const struct usage *u, int argc, char **argv,
                 int *code)
{
    *t = (struct steer){.usage = u};
    if (!command_line_parse(u, argc, argv, &t->s, &t->operands, code))
        return false;
    secret_args_hide_logins(argc, argv);
    buf_init(&t->why, WHY_MOST);
    return true;
}

void steer_end(struct steer *t)
{
    json_decref(t->crawls);
    control_client_free(t->client);
    buf_fini(&t->why);
    option_list_free(&t->operands);
    option_fini(t->usage->table, &t->s);
}

int steer_command(const struct usage *u, int argc, char **argv,
                  int (*act)(struct steer *t))
{
    struct steer t;
    int code = EXIT_DONE;

    if (!steer_begin(&t, u, argc, argv, &code))
        return code;
    code = act(&t);
    steer_end(&t);
    return code;
}

int steer_failed(struct steer *t, enum status st)
{
    fprintf(stderr, "urlweir %s: %s\n", t->usage->name, buf_str(&t->why));
    buf_clear(&t->why);
    return st == STATUS_ARG ? EXIT_USAGE : EXIT_CANNOT;
}

int steer_ask(struct steer *t, const char *method, const char *path,
              json_t *body, json_t **out)
{
    enum status st =
        control_client_ask(t->client, method, path, body, out, &t->why);

    return st == STATUS_OK ? EXIT_DONE : steer_failed(t, st);
}

int steer_crawl_verb(struct steer *t, const char *verb, json_t *body,
                     json_t **out)
{
    json_t *empty = json_object();
    struct buf path;
    int code;

    buf_init(&path, 4096);
    control_crawl_path(&path, steer_crawl_name(t->crawl), verb);
    code =
        steer_ask(t, "POST", buf_str(&path), body != NULL ? body : empty, out);
    buf_fini(&path);
    json_decref(empty);
    return code;
}

/* ---- which crawl ---- */

const char *steer_crawl_name(const json_t *crawl)
{
    const char *name = json_string_value(json_object_get(crawl, "name"));

    return name != NULL ? name : "";
}

bool steer_is_own(const json_t *crawl)
{
    const char *kind = json_string_value(json_object_get(crawl, "kind"));

    return kind != NULL && strcmp(kind, "own") == 0;
}

int steer_connect(struct steer *t)
{
    const struct control_options o = {
        .token_file = t->s.token_file,
        .tls_ca = t->s.tls_ca,
        .insecure = t->s.insecure,
        .timeout_ms = t->s.timeout_ms,
    };
    json_t *answer = NULL;
    enum status st =
        control_client_open(&t->client, t->operands.item[0], &o, &t->why);
    int code;

    if (st != STATUS_OK)
        return steer_failed(t, st);
    t->place = control_client_place(t->client);
    code = steer_ask(t, "GET", "/v1/crawls", NULL, &answer);
    if (code != EXIT_DONE)
        return code;
    t->crawls = json_incref(json_object_get(answer, "crawls"));
    json_decref(answer);
    if (json_is_array(t->crawls))
        return EXIT_DONE;
    buf_add_str(&t->why, "the server there has no list of crawls; is it "
                         "another release of urlweir?");
    return steer_failed(t, STATUS_FORMAT);
}

/* ": news, shop and 3 more" */
static void add_names(struct buf *out, json_t *crawls, bool served)
{
    const char *between = ": ";
    size_t i, n = 0;
    json_t *one;

    json_array_foreach(crawls, i, one)
    {
        if (!served && !steer_is_own(one))
            continue;
        if (++n > NAMES_MOST)
            continue;
        buf_add_str(out, between);
        format_terminal(out, bytes_of_str(steer_crawl_name(one)));
        between = ", ";
    }
    if (n > NAMES_MOST)
        buf_addf(out, " and %zu more", n - NAMES_MOST);
}

/* Chooses the crawl of --crawl, or of the given directory. */
static int choose_named(struct steer *t, const char *name, bool served)
{
    size_t i;
    json_t *one;

    json_array_foreach(t->crawls, i, one)
    {
        if (strcmp(steer_crawl_name(one), name) == 0 &&
            (served || steer_is_own(one)))
            t->crawl = one;
    }
    if (t->crawl != NULL)
        return EXIT_DONE;
    buf_add_str(&t->why, "there is no crawl ");
    format_terminal(&t->why, bytes_of_str(name));
    if (json_array_size(t->crawls) > 0) {
        buf_add_str(&t->why, "; there are");
        add_names(&t->why, t->crawls, served);
    }
    return steer_failed(t, STATUS_NOT_FOUND);
}

static int none_is_own(struct steer *t)
{
    if (steer_is_alone(t)) {
        buf_add_str(&t->why, "the crawl has not begun yet or has just ended; "
                             "while its seeds are read it takes no commands");
        return steer_failed(t, STATUS_BUSY);
    }
    buf_add_str(&t->why, "the service runs no crawl of its own (`urlweir serve "
                         "--crawl FILE.yaml`), it only serves others; ");
    if (t->place->process != 0)
        buf_addf(&t->why, "`kill %ld` ends it", t->place->process);
    else
        buf_add_str(&t->why, "a SIGTERM ends it");
    return steer_failed(t, STATUS_NOT_FOUND);
}

/* Chooses the only crawl; if there are several, the one named DEFAULT. */
static int choose_served(struct steer *t)
{
    if (json_array_size(t->crawls) != 1)
        return choose_named(t, "DEFAULT", true);
    t->crawl = json_array_get(t->crawls, 0);
    return EXIT_DONE;
}

int steer_choose(struct steer *t, bool served)
{
    const char *name = t->s.crawl != NULL ? t->s.crawl : t->place->crawl;
    json_t *own = NULL, *one;
    size_t i, n = 0;

    if (name != NULL)
        return choose_named(t, name, served);
    json_array_foreach(t->crawls, i, one)
    {
        if (!steer_is_own(one))
            continue;
        own = one;
        n++;
    }
    t->crawl = own;
    if (n == 1)
        return EXIT_DONE;
    t->crawl = NULL;
    if (n == 0)
        return served ? choose_served(t) : none_is_own(t);
    buf_addf(&t->why, "there are %zu crawls; choose one with --crawl NAME", n);
    add_names(&t->why, t->crawls, false);
    return steer_failed(t, STATUS_ARG);
}

/* ---- words ---- */

bool steer_is_alone(const struct steer *t)
{
    return t->place->dir != NULL && !t->place->service;
}

void steer_add_label(const struct steer *t, const json_t *crawl,
                     struct buf *out)
{
    const char *label = t->place->kafka != NULL ? t->place->kafka
                        : steer_is_alone(t)     ? t->place->dir
                                                : steer_crawl_name(crawl);

    format_terminal(out, bytes_of_str(label));
}

void steer_print(json_t *j)
{
    json_print(j);
    json_decref(j);
}

/* ---- hosts ---- */

int steer_host_key(const struct steer *t, const char *text, struct buf *key)
{
    struct buf url;
    struct url u;
    int code = EXIT_DONE;

    buf_init(&url, HOST_MOST + 16);
    url_init(&u);
    if (strstr(text, "://") == NULL)
        buf_add_str(&url, "http://");
    buf_add_str(&url, text);
    if (buf_failed(&url) == STATUS_OK && text[0] != '\0' &&
        url_canonical(&u, buf_bytes(&url), NULL, NULL) == URL_OK)
        buf_add_bytes(key, url_host(&u));
    else
        code = usage_error(t->usage, "'%s' is not a host", text);
    url_fini(&u);
    buf_fini(&url);
    return code;
}
