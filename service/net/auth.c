/* SPDX-License-Identifier: MIT */
/* auth.c - token file, roles, comparison; a caller's own token. */
#include "service/net/auth.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/logger.h"
#include "base/mem.h"
#include "base/process/sandbox.h"

#define FILE_MOST (1u << 20)

struct token {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    enum auth_role role;
};

struct tokens {
    struct token *at;
    size_t count;
    bool any_short;
};

struct auth {
    char *path;
    pthread_mutex_t mtx;
    struct tokens tokens; /* under mtx */
};

static const char *const role_names[] = {
    [AUTH_NONE] = "none",
    [AUTH_READ] = "read",
    [AUTH_WRITE] = "write",
    [AUTH_ADMIN] = "admin",
};

const char *auth_role_name(enum auth_role r)
{
    return role_names[r];
}

static enum auth_role role_of_name(struct bytes name)
{
    for (enum auth_role r = AUTH_READ; r <= AUTH_ADMIN; r++)
        if (bytes_is(name, role_names[r]))
            return r;
    return AUTH_NONE;
}

/* Adds the token on a line and returns NULL, or returns what is wrong with the
 * line. Blank lines and comments are skipped. A token has no space in it, like
 * `b64token` of RFC 6750. */
static const char *auth_take_line(struct tokens *t, struct bytes line)
{
    struct bytes role, token;
    size_t n = 0;

    line = bytes_trim(line);
    if (line.len == 0 || line.at[0] == '#')
        return NULL;
    while (n < line.len && line.at[n] != ' ' && line.at[n] != '\t')
        n++;
    role = bytes_of(line.at, n);
    token = bytes_trim(bytes_of(line.at + n, line.len - n));
    if (role_of_name(role) == AUTH_NONE)
        return "a line is ROLE TOKEN, where ROLE is read, write or admin";
    if (token.len == 0)
        return "a role without a token";
    if (token.len > AUTH_TOKEN_MOST)
        return "a token has at most 512 characters";
    for (size_t i = 0; i < token.len; i++)
        if (token.at[i] <= ' ' || token.at[i] > '~')
            return "a token must be printable ASCII without spaces";
    if (t->count == AUTH_TOKENS_MOST)
        return "more than 1024 tokens";
    SHA256((const unsigned char *)token.at, token.len, t->at[t->count].digest);
    t->any_short = t->any_short || token.len < AUTH_TOKEN_SHORT;
    t->at[t->count++].role = role_of_name(role);
    return NULL;
}

static enum status take_lines(struct tokens *t, struct bytes text,
                              const char *path)
{
    unsigned number = 0;

    while (text.len > 0) {
        const char *lf = memchr(text.at, '\n', text.len);
        size_t len = lf != NULL ? (size_t)(lf - text.at) : text.len;
        const char *wrong = auth_take_line(t, bytes_of(text.at, len));

        number++;
        if (wrong != NULL) {
            log_error("token file is wrong", "path=\"%s\" line=%u why=\"%s\"",
                      path, number, wrong);
            return STATUS_FORMAT;
        }
        len += lf != NULL;
        text = bytes_of(text.at + len, text.len - len);
    }
    if (t->count > 0)
        return STATUS_OK;
    log_error("token file holds no token", "path=\"%s\"", path);
    return STATUS_FORMAT;
}

static void warn_if_open(const char *path)
{
    struct stat s;

    if (stat(path, &s) == 0 && (s.st_mode & S_IROTH) != 0)
        log_warn("token file can be read by other users", "path=\"%s\"", path);
}

enum status auth_reload(struct auth *a)
{
    struct tokens t = {.at = xcalloc(AUTH_TOKENS_MOST, sizeof *t.at)};
    struct buf text;
    enum status st;

    secret_held();
    buf_init(&text, FILE_MOST);
    st = file_read(a->path, &text);
    if (st != STATUS_OK)
        log_error("cannot read the token file", "path=\"%s\" why=\"%s\"",
                  a->path, status_text(st));
    else
        st = take_lines(&t, buf_bytes(&text), a->path);
    if (text.at != NULL)
        OPENSSL_cleanse(text.at, text.cap);
    buf_fini(&text);
    if (st != STATUS_OK) {
        free(t.at);
        return st;
    }
    warn_if_open(a->path);
    if (t.any_short)
        log_warn("a token is short enough to be guessed", "path=\"%s\"",
                 a->path);
    pthread_mutex_lock(&a->mtx);
    free(a->tokens.at);
    a->tokens = t;
    pthread_mutex_unlock(&a->mtx);
    return STATUS_OK;
}

enum status auth_new(struct auth **out, const char *path)
{
    struct auth *a = xcalloc(1, sizeof *a);
    enum status st;

    a->path = xstrdup(path);
    pthread_mutex_init(&a->mtx, NULL);
    st = auth_reload(a);
    if (st != STATUS_OK) {
        auth_free(a);
        return st;
    }
    *out = a;
    return STATUS_OK;
}

void auth_free(struct auth *a)
{
    if (a == NULL)
        return;
    pthread_mutex_destroy(&a->mtx);
    free(a->tokens.at);
    free(a->path);
    free(a);
}

enum auth_role auth_role_of(struct auth *a, struct bytes token)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    unsigned found = AUTH_NONE;

    SHA256((const unsigned char *)token.at, token.len, digest);
    pthread_mutex_lock(&a->mtx);
    for (size_t i = 0; i < a->tokens.count; i++) {
        const struct token *t = &a->tokens.at[i];
        int differs = CRYPTO_memcmp(t->digest, digest, sizeof digest);
        unsigned mask = 0u - (unsigned)(differs == 0);

        found |= mask & (unsigned)t->role;
    }
    pthread_mutex_unlock(&a->mtx);
    return (enum auth_role)found;
}

struct bytes auth_bearer(struct bytes header)
{
    static const char scheme[] = "bearer ";
    const size_t n = sizeof scheme - 1;

    if (header.len <= n ||
        !bytes_equal_nocase(bytes_of(header.at, n), bytes_of(scheme, n)))
        return bytes_of(NULL, 0);
    return bytes_trim(bytes_of(header.at + n, header.len - n));
}

/* ---- the token that a caller sends, from a file ---- */

#define TOKEN_FILE_MOST ((size_t)1 << 20)

/* The rank of the role that `word` names; 0: not the name of a role. */
static int rank_of(struct bytes word)
{
    for (int r = AUTH_READ; r <= AUTH_ADMIN; r++)
        if (bytes_is(word, auth_role_name((enum auth_role)r)))
            return r;
    return 0;
}

static struct bytes next_line(struct bytes *text)
{
    const char *end = memchr(text->at, '\n', text->len);
    size_t n = end != NULL ? (size_t)(end - text->at) : text->len;
    struct bytes line = bytes_of(text->at, n);

    if (end != NULL)
        n++;
    *text = bytes_of(text->at + n, text->len - n);
    return bytes_trim(line);
}

/* Reads "ROLE TOKEN" or "TOKEN"; `token` keeps the one of the highest rank. */
static void take_token_line(struct bytes line, int *best, struct buf *token)
{
    size_t word = 0;
    int rank;

    if (line.len == 0 || line.at[0] == '#')
        return;
    while (word < line.len && line.at[word] != ' ' && line.at[word] != '\t')
        word++;
    rank = rank_of(bytes_of(line.at, word));
    if (rank > 0 && word < line.len)
        line = bytes_trim(bytes_of(line.at + word, line.len - word));
    if (rank <= *best)
        return;
    *best = rank;
    buf_clear(token);
    buf_add_bytes(token, line);
}

bool token_is_valid(const struct buf *token)
{
    bool ok = token->len > 0 && token->len <= AUTH_TOKEN_MOST;

    for (size_t i = 0; ok && i < token->len; i++)
        ok = token->at[i] > ' ' && token->at[i] < 0x7f;
    return ok;
}

void token_forget(struct buf *secret)
{
    if (secret->at != NULL)
        explicit_bzero(secret->at, secret->cap);
    buf_fini(secret);
}

enum status token_file_read(const char *path, struct buf *token)
{
    struct buf file;
    struct bytes rest;
    int best = -1;
    enum status st;

    buf_init(&file, TOKEN_FILE_MOST);
    st = file_read(path, &file);
    rest = buf_bytes(&file);
    while (st == STATUS_OK && rest.len > 0)
        take_token_line(next_line(&rest), &best, token);
    if (st == STATUS_OK && !token_is_valid(token))
        st = STATUS_FORMAT;
    token_forget(&file);
    return st;
}
