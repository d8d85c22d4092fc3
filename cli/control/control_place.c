/* SPDX-License-Identifier: MIT */
/*
 * control_place.c - finds the process that runs in a directory.
 *
 * We check the lock before the socket, since a killed process leaves a socket
 * that nothing listens on. The address of a Unix socket has room for 107
 * octets, so a longer path goes through a descriptor of its directory.
 */
#include "cli/control/control_place.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/format.h"
#include "base/kafka/kafka_address.h"
#include "base/mem.h"
#include "base/process/sandbox.h"
#include "base/status.h"
#include "cluster/cluster_steer.h"
#include "frontier/reader.h"
#include "job/crawl_jobs/confine.h"
#include "job/settings/settings.h"
#include "service/net/auth.h"

#define NOTE_MOST 2048

static char *join(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = xmalloc(size);

    snprintf(path, size, "%s/%s", dir, name);
    return path;
}

static bool is_there(const char *dir, const char *name)
{
    char *path = join(dir, name);
    bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

static long holder_of(const char *dir)
{
    char *path = join(dir, "lock");
    long holder = 0;

    if (file_lock_holder(path, &holder) != STATUS_OK)
        holder = 0;
    free(path);
    return holder;
}

static enum status explain_status(enum status st, struct buf *why,
                                  const char *before, const char *name,
                                  const char *behind)
{
    buf_add_str(why, before);
    format_terminal(why, bytes_of_str(name));
    buf_add_str(why, behind);
    return st;
}

/* ---- the note in the lock: "123 serve http=127.0.0.1:7072 sandbox: off" -- */

#define NOTE_SANDBOX " sandbox: "

static void read_note(const char *dir, struct buf *note)
{
    char *path = join(dir, "lock");

    if (file_read(path, note) != STATUS_OK)
        buf_clear(note);
    free(path);
}

void control_note(struct buf *out, const char *what, const char *address,
                  bool tls)
{
    buf_add_str(out, what);
    if (address != NULL)
        buf_addf(out, " %s=%s", tls ? "https" : "http", address);
    if (confine_text() != NULL)
        buf_addf(out, NOTE_SANDBOX "%s", confine_text());
}

bool control_note_sandbox(const char *dir, struct buf *out)
{
    const char *at = NULL;
    struct buf note;

    buf_init(&note, NOTE_MOST);
    read_note(dir, &note);
    if (note.len > 0)
        at = strstr(buf_str(&note), NOTE_SANDBOX);
    if (at != NULL) {
        at += strlen(NOTE_SANDBOX);
        format_terminal(out, bytes_of(at, strcspn(at, "\n")));
    }
    buf_fini(&note);
    return at != NULL;
}

/* The first word after the process id is the command. */
static bool note_is(const struct buf *note, const char *command)
{
    const char *at = strchr(buf_str(note), ' ');
    size_t n = strlen(command);

    return at != NULL && strncmp(at + 1, command, n) == 0 &&
           strchr(" \n", at[1 + n]) != NULL;
}

/* "http://127.0.0.1:7072" out of " http=127.0.0.1:7072", or NULL. */
static char *note_url(const struct buf *note)
{
    static const char *const schemes[] = {"http", "https"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char key[16], url[300];
        const char *at;

        snprintf(key, sizeof key, " %s=", schemes[i]);
        at = strstr(buf_str(note), key);
        if (at == NULL)
            continue;
        at += strlen(key);
        snprintf(url, sizeof url, "%s://%.*s", schemes[i],
                 (int)strcspn(at, " \n"), at);
        return xstrdup(url);
    }
    return NULL;
}

/* ---- the socket ---- */

static bool has_socket(const char *dir)
{
    char *path = join(dir, CONTROL_SOCKET);
    struct stat sb;
    bool there = stat(path, &sb) == 0 && S_ISSOCK(sb.st_mode);

    free(path);
    return there;
}

static void take_socket(struct control_place *p)
{
    char through[64];

    p->url = xstrdup("http://localhost");
    p->socket = join(p->dir, CONTROL_SOCKET);
    if (strlen(p->socket) < sizeof((struct sockaddr_un *)0)->sun_path)
        return;
    p->dir_fd = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p->dir_fd < 0)
        return;
    snprintf(through, sizeof through, "/proc/self/fd/%d/" CONTROL_SOCKET,
             p->dir_fd);
    free(p->socket);
    p->socket = xstrdup(through);
}

/* ---- a directory ---- */

static enum status nobody(const char *dir, struct buf *why)
{
    struct stat sb;

    if (stat(dir, &sb) != 0 && errno != ENOENT) {
        explain_status(STATUS_OK, why, "cannot read ", dir, ": ");
        buf_add_str(why, strerror(errno));
        return STATUS_IO;
    }
    if (stat(dir, &sb) != 0)
        return explain_status(STATUS_NOT_FOUND, why, "there is no directory ",
                              dir, "");
    if (settings_are_in(dir)) {
        explain_status(STATUS_OK, why, "no crawl runs in ", dir,
                       "; go on with ");
        return explain_status(STATUS_NOT_FOUND, why, "`urlweir resume ", dir,
                              "`");
    }
    if (is_there(dir, "frontier.db")) {
        explain_status(STATUS_OK, why, "no service runs in ", dir,
                       "; start it with ");
        return explain_status(STATUS_NOT_FOUND, why, "`urlweir serve ", dir,
                              "`");
    }
    return explain_status(STATUS_NOT_FOUND, why, "no crawl in ", dir, "");
}

/* Splits SERVICE/crawls/NAME into *service and *crawl, which the caller
 * frees. */
static bool is_within_service(const char *dir, char **service, char **crawl)
{
    char *path = realpath(dir, NULL);
    char *name = path != NULL ? strrchr(path, '/') : NULL;
    char *above = NULL;

    if (name != NULL) {
        *name++ = '\0';
        above = strrchr(path, '/');
    }
    if (above == NULL || strcmp(above, "/crawls") != 0) {
        free(path);
        return false;
    }
    *above = '\0';
    *crawl = xstrdup(name);
    *service = xstrdup(path[0] != '\0' ? path : "/");
    free(path);
    return true;
}

/* Finds how to reach the process that holds p->dir. */
static enum status reach_holder(struct control_place *p, struct buf *why)
{
    struct buf note;
    enum status st = STATUS_OK;

    buf_init(&note, NOTE_MOST);
    read_note(p->dir, &note);
    p->service = note_is(&note, "serve");
    if (has_socket(p->dir)) {
        take_socket(p);
    } else if ((p->url = note_url(&note)) == NULL) {
        buf_addf(why, "process %ld has ", p->process);
        st = explain_status(
            STATUS_BUSY, why, "", p->dir,
            " and takes no commands: it is starting or ending, or could not "
            "make its socket there, and then it said so; ");
        buf_addf(why, "`kill %ld` stops it", p->process);
    }
    buf_fini(&note);
    return st;
}

static enum status find_dir(struct control_place *p, const char *dir,
                            struct buf *why)
{
    char *service = NULL;

    if (is_within_service(dir, &service, &p->crawl) &&
        (p->process = holder_of(service)) != 0) {
        p->dir = service;
        return reach_holder(p, why);
    }
    free(service);
    free(p->crawl);
    p->crawl = NULL;
    p->process = holder_of(dir);
    if (p->process == 0)
        return nobody(dir, why);
    p->dir = xstrdup(dir);
    return reach_holder(p, why);
}

/* ---- a URL ---- */

static bool is_url(const char *where)
{
    return strncmp(where, "http://", 7) == 0 ||
           strncmp(where, "https://", 8) == 0;
}

static bool has_part(CURLU *u, CURLUPart part)
{
    char *text = NULL;
    bool there = curl_url_get(u, part, &text, 0) == CURLUE_OK;

    curl_free(text);
    return there;
}

static enum status find_url(struct control_place *p, const char *url,
                            struct buf *why)
{
    CURLU *u = curl_url();
    enum status st = STATUS_OK;
    size_t n = strlen(url);

    if (u == NULL || curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
        st = explain_status(
            STATUS_ARG, why, "'", url,
            "' is not the URL of a service, such as http://127.0.0.1:7072");
    else if (has_part(u, CURLUPART_USER) || has_part(u, CURLUPART_PASSWORD))
        st = explain_status(
            STATUS_ARG, why, "", "the URL has a name or password in it",
            ", where other users can see it; give a token with --token-file");
    else if (has_part(u, CURLUPART_QUERY) || has_part(u, CURLUPART_FRAGMENT))
        st = explain_status(
            STATUS_ARG, why, "'", url,
            "' has a query or fragment; give the service's address alone");
    curl_url_cleanup(u);
    while (n > 0 && url[n - 1] == '/')
        n--;
    p->url = xstrndup(url, n);
    return st;
}

/* ---- */

/* The URL of a worker's crawl, or NULL. */
static char *kafka_of(const char *where)
{
    struct crawl_settings s;
    struct buf error;
    char *url = NULL;

    if (kafka_address_is_url(where))
        return xstrdup(where);
    if (is_url(where) || !settings_are_in(where))
        return NULL;
    settings_init(&s);
    buf_init(&error, 4096);
    if (settings_load(&s, where, &error) == STATUS_OK && s.cluster != NULL)
        url = xstrdup(s.cluster);
    buf_fini(&error);
    settings_fini(&s);
    return url;
}

static enum status find(struct control_place *p, const char *where,
                        struct buf *why)
{
    p->kafka = kafka_of(where);
    if (p->kafka == NULL)
        return is_url(where) ? find_url(p, where, why)
                             : find_dir(p, where, why);
    if (!kafka_address_is_url(where))
        p->worker = xstrdup(where);
    p->url = xstrdup(p->kafka);
    return STATUS_OK;
}

enum status control_place_find(struct control_place *out, const char *where,
                               struct buf *why)
{
    struct control_place p = {.dir_fd = -1};
    enum status st = find(&p, where, why);

    if (st == STATUS_OK)
        *out = p;
    else
        control_place_fini(&p);
    return st;
}

void control_place_fini(struct control_place *p)
{
    free(p->url);
    free(p->socket);
    free(p->dir);
    free(p->crawl);
    free(p->kafka);
    free(p->worker);
    if (p->dir_fd >= 0)
        close(p->dir_fd);
}

bool control_place_is_stopped(const char *where)
{
    struct control_place p;
    struct buf why;
    enum status st;

    if (is_url(where))
        return false;
    buf_init(&why, NOTE_MOST + 65536);
    st = control_place_find(&p, where, &why);
    if (st == STATUS_OK)
        control_place_fini(&p);
    buf_fini(&why);
    return st == STATUS_NOT_FOUND && settings_are_in(where);
}

bool control_place_is_left(const struct control_place *p)
{
    return p->dir == NULL || holder_of(p->dir) != p->process;
}

/*
 * Sends requests to a running crawl or service.
 *
 * The requests are those of docs/formats/http-api.md; they go over the Unix
 * socket of a directory, or to a URL. Answers are bounded and parsed; redirects
 * are not followed and the environment's proxy is not used. The token comes
 * from a file or the environment (URLWEIR_TOKEN) and is sent to URLs only: a
 * user who may open the socket needs no token. One thread.
 */

#define ANSWER_MOST ((size_t)16 << 20)
#define CONNECT_MS  10000L
#define DETAIL_MOST ((size_t)4096)

struct control_client {
    struct control_place place;
    struct control_options options;
    CURL *curl;
    struct buf token;
    struct buf answer;
    char error[CURL_ERROR_SIZE];
};

/* ---- the token ---- */

static enum status read_token_file(struct control_client *c, struct buf *why)
{
    const char *path = c->options.token_file;
    enum status st = token_file_read(path, &c->token);

    if (st != STATUS_OK) {
        buf_add_str(why, "--token-file ");
        format_terminal(why, bytes_of_str(path));
        buf_addf(why, ": %s",
                 st == STATUS_FORMAT ? "it holds no token; a token is one "
                                       "line of printable characters without "
                                       "spaces"
                                     : status_text(st));
    }
    return st;
}

static enum status take_token(struct control_client *c, struct buf *why)
{
    const char *env = getenv("URLWEIR_TOKEN");

    if (c->options.token_file != NULL || env != NULL)
        secret_held();
    if (c->options.token_file != NULL)
        return read_token_file(c, why);
    if (env == NULL || env[0] == '\0')
        return STATUS_OK;
    buf_add_str(&c->token, env);
    if (token_is_valid(&c->token))
        return STATUS_OK;
    buf_add_str(why, "URLWEIR_TOKEN holds no token; a token is printable "
                     "characters without spaces");
    return STATUS_FORMAT;
}

/* ---- opening ---- */

static size_t take_answer(char *data, size_t size, size_t n, void *client)
{
    struct control_client *c = client;

    buf_add(&c->answer, data, size * n);
    return buf_failed(&c->answer) == STATUS_OK ? size * n : 0;
}

static void set_up(struct control_client *c)
{
    const struct control_options *o = &c->options;

    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT_MS,
                     o->timeout_ms < CONNECT_MS ? (long)o->timeout_ms
                                                : CONNECT_MS);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)o->timeout_ms);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take_answer);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
    curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->error);
    curl_easy_setopt(c->curl, CURLOPT_USERAGENT, "urlweir/" URLWEIR_VERSION);
    if (c->place.socket != NULL)
        curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, c->place.socket);
    if (o->tls_ca != NULL)
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, o->tls_ca);
    if (o->insecure) {
        curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(c->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

enum status control_client_open(struct control_client **out, const char *where,
                                const struct control_options *o,
                                struct buf *why)
{
    struct control_client *c = xcalloc(1, sizeof *c);
    enum status st;

    c->options = *o;
    c->place.dir_fd = -1;
    buf_init(&c->token, AUTH_TOKEN_MOST + 1);
    buf_init(&c->answer, ANSWER_MOST);
    st = control_place_find(&c->place, where, why);
    if (st == STATUS_OK && c->place.socket == NULL && c->place.kafka == NULL)
        st = take_token(c, why);
    if (st == STATUS_OK && (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
                            (c->curl = curl_easy_init()) == NULL)) {
        buf_add_str(why, "cannot start libcurl");
        st = STATUS_IO;
    }
    if (st != STATUS_OK) {
        control_client_free(c);
        return st;
    }
    set_up(c);
    *out = c;
    return STATUS_OK;
}

void control_client_free(struct control_client *c)
{
    if (c == NULL)
        return;
    curl_easy_cleanup(c->curl);
    token_forget(&c->token);
    buf_fini(&c->answer);
    control_place_fini(&c->place);
    free(c);
}

const struct control_place *control_client_place(const struct control_client *c)
{
    return &c->place;
}

/* ---- messages ---- */

/* "the crawl in DIR", "http://127.0.0.1:7072" */
static void add_other(const struct control_client *c, struct buf *out)
{
    if (c->place.socket != NULL) {
        buf_addf(out, "process %ld in ", c->place.process);
        format_terminal(out, bytes_of_str(c->place.dir));
    } else {
        format_terminal(out, bytes_of_str(c->place.url));
    }
}

static enum status not_reached(struct control_client *c, CURLcode code,
                               struct buf *why)
{
    enum status st = STATUS_IO;

    add_other(c, why);
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        buf_addf(why, " did not answer within %g s (--timeout)",
                 (double)c->options.timeout_ms / 1000.0);
        return STATUS_AGAIN;
    case CURLE_WRITE_ERROR:
        buf_addf(why, " sent an answer of more than %zu MiB",
                 ANSWER_MOST >> 20);
        return STATUS_FORMAT;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        buf_add_str(why, " does not speak HTTP");
        return STATUS_FORMAT;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_PARTIAL_FILE:
        buf_add_str(why, " ended before it answered");
        if (code == CURLE_GOT_NOTHING && c->place.socket == NULL &&
            strncmp(c->place.url, "http://", 7) == 0)
            buf_add_str(why, "; does it want https://?");
        return STATUS_CLOSED;
    case CURLE_SSL_CONNECT_ERROR:
        buf_add_str(why, " does not speak TLS; is it http://? ");
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        buf_add_str(why, ": its certificate is not trusted; name the CA with "
                         "--tls-ca FILE: ");
        break;
    case CURLE_COULDNT_CONNECT:
        buf_add_str(why, c->place.socket != NULL
                             ? " takes no commands now: it is starting or "
                               "ending, or belongs to another user: "
                             : " cannot be reached; does `urlweir serve` run "
                               "there? ");
        break;
    default:
        buf_add_str(why, ": ");
    }
    format_terminal(why, bytes_of_str(c->error[0] != '\0'
                                          ? c->error
                                          : curl_easy_strerror(code)));
    return st;
}

static enum status status_of_http(long http)
{
    switch (http) {
    case 400:
    case 413:
    case 415:
        return STATUS_ARG;
    case 404:
        return STATUS_NOT_FOUND;
    case 409:
        return STATUS_BUSY;
    case 503:
        return STATUS_CLOSED;
    default:
        return STATUS_IO;
    }
}

/* Reports problem details (RFC 9457), or the error of a peer that is not
 * urlweir. */
static enum status refused(struct control_client *c, long http, json_t *problem,
                           struct buf *why)
{
    const json_t *detail = json_object_get(problem, "detail");
    const char *text = json_string_value(detail);
    size_t len = json_string_length(detail);

    if (http == 401) {
        add_other(c, why);
        buf_add_str(why, c->token.len > 0
                             ? " does not know this token"
                             : " requires a token; give --token-file FILE, or "
                               "set URLWEIR_TOKEN");
        return STATUS_IO;
    }
    if (text == NULL) {
        add_other(c, why);
        buf_addf(why, " is not urlweir: it answered with HTTP status %ld",
                 http);
        return STATUS_FORMAT;
    }
    if (http == 403)
        buf_add_str(why, c->token.len > 0 ? "the token does not allow that: "
                                          : "that may not be done there: ");
    format_terminal(why, bytes_of(text, len < DETAIL_MOST ? len : DETAIL_MOST));
    return status_of_http(http);
}

static enum status read_answer(struct control_client *c, json_t **out,
                               struct buf *why)
{
    long http = 0;
    json_t *answer =
        json_loadb(buf_str(&c->answer), c->answer.len, 0, &(json_error_t){0});
    enum status st = STATUS_OK;

    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &http);
    if (http < 200 || http > 299) {
        st = refused(c, http, answer, why);
    } else if (!json_is_object(answer)) {
        add_other(c, why);
        buf_add_str(why, " is not urlweir: its answer is not JSON");
        st = STATUS_FORMAT;
    }
    if (st == STATUS_OK)
        *out = answer;
    else
        json_decref(answer);
    return st;
}

/* ---- asking ---- */

static struct curl_slist *headers_of(struct control_client *c, bool body)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");
    char line[AUTH_TOKEN_MOST + 64];

    if (body)
        list = curl_slist_append(list, "Content-Type: application/json");
    if (c->token.len > 0) {
        snprintf(line, sizeof line, "Authorization: Bearer %s",
                 buf_str(&c->token));
        list = curl_slist_append(list, line);
        explicit_bzero(line, sizeof line);
    }
    return list;
}

static CURLcode perform(struct control_client *c, const char *method,
                        const char *path, const char *body)
{
    struct curl_slist *headers = headers_of(c, body != NULL);
    size_t size = strlen(c->place.url) + strlen(path) + 1;
    char *url = xmalloc(size);
    CURLcode code;

    snprintf(url, size, "%s%s", c->place.url, path);
    curl_easy_setopt(c->curl, CURLOPT_URL, url);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(c->curl, CURLOPT_HTTPGET, 1L);
    if (body != NULL) {
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)strlen(body));
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
    c->error[0] = '\0';
    code = curl_easy_perform(c->curl);
    curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, NULL);
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    free(url);
    return code;
}

/* ---- a crawl in Kafka ---- */

/* What a process of one crawl lists, which each shard is. */
static json_t *list_of_one(const struct control_client *c)
{
    const char *name = strrchr(c->place.kafka, '/') + 1;

    return json_pack("{s:[{s:s, s:s, s:s, s:s}]}", "crawls", "name", CRAWL_ID,
                     "kind", "own", "state", "running", "cluster", name);
}

static enum status ask_kafka(struct control_client *c, const char *method,
                             const char *path, json_t *body, json_t **out,
                             struct buf *why)
{
    const struct cluster_command command = {
        method, path, body, (int)clock_earlier(c->options.timeout_ms, INT_MAX)};
    struct kafka_access access = {.brokers = NULL};
    struct kafka_address where;
    struct crawl_settings s;
    enum status st;

    if (strcmp(path, "/v1/crawls") == 0) {
        *out = list_of_one(c);
        return STATUS_OK;
    }
    settings_init(&s);
    st = kafka_address_read(&where, c->place.kafka, why);
    if (st == STATUS_OK && c->place.worker != NULL)
        st = settings_load(&s, c->place.worker, why);
    access =
        (struct kafka_access){where.brokers,
                              {s.kafka_property.item, s.kafka_property.count}};
    if (st == STATUS_OK)
        st = cluster_steer_ask(&access, where.topic, &command, out, why);
    if (st != STATUS_OK && why->len == 0)
        buf_add_str(why, status_text(st));
    settings_fini(&s);
    return st;
}

enum status control_client_ask(struct control_client *c, const char *method,
                               const char *path, json_t *body, json_t **out,
                               struct buf *why)
{
    char *text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    enum status st;
    CURLcode code;

    if (c->place.kafka != NULL) {
        free(text);
        return ask_kafka(c, method, path, body, out, why);
    }
    buf_clear(&c->answer);
    code = perform(c, method, path, text);
    st =
        code == CURLE_OK ? read_answer(c, out, why) : not_reached(c, code, why);
    free(text);
    return st;
}

void control_add_encoded(struct buf *out, struct bytes text)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < text.len; i++) {
        unsigned char b = (unsigned char)text.at[i];

        if ((b >= '0' && b <= '9') || (b >= 'A' && b <= 'Z') ||
            (b >= 'a' && b <= 'z') || (b != 0 && strchr("-._~", b) != NULL))
            buf_add_char(out, (char)b);
        else
            buf_addf(out, "%%%c%c", hex[b >> 4], hex[b & 15]);
    }
}

void control_crawl_path(struct buf *out, const char *name, const char *verb)
{
    buf_add_str(out, "/v1/crawls/");
    control_add_encoded(out, bytes_of_str(name));
    if (verb != NULL)
        buf_addf(out, "/%s", verb);
}
