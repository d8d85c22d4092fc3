/*
 * redis_impostor.h - a server that speaks Redis's protocol and answers what a
 * test tells it to: faults and lies that no real server can be made to tell.
 * Header only.
 */
#ifndef URLWEIR_TESTS_FILTER_REDIS_REDIS_IMPOSTOR_H
#define URLWEIR_TESTS_FILTER_REDIS_REDIS_IMPOSTOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "filter/redis/redis_impl.h"
#include "tests/unit/unit.h"

#define RUN_ID   "0123456789012345678901234567890123456789"
#define OTHER_ID "9876543210987654321098765432109876543210"
#define HANG_UP  NULL             /* instead of an answer */
#define SILENCE  impostor_silence /* no answer */
#define DRIBBLE  "<slow>"         /* an octet now and then, without an end */
#define ANSWERS  8

static const char impostor_silence[] = "";

static const struct redis_script *const impostor_scripts[] = {
    &redis_script_open,  &redis_script_add,   &redis_script_check,
    &redis_script_begin, &redis_script_fill,  &redis_script_swap,
    &redis_script_abort, &redis_script_info,  &redis_script_drop,
    &redis_script_grow,  &redis_script_count,
};

struct impostor {
    char dir[64], path[96];
    int listener;
    pthread_t thread;
    pthread_mutex_t mtx;
    /* What is answered, as text after INFO, as RESP otherwise; a script's
     * answers in turn, the last one from then on. */
    const char *_Atomic info, *_Atomic auth, *_Atomic select, *_Atomic load;
    const char *_Atomic scripts[LINK_SCRIPTS][ANSWERS];
    atomic_uint asked[LINK_SCRIPTS]; /* scripts run */
    atomic_uint connections, loads;
    char log[4096];  /* words of all commands but INFO, SCRIPT and EVALSHA */
    char last[4096]; /* words of the last EVALSHA, without its digest */
};

static inline const char *impostor_word(const redisReply *cmd, size_t i)
{
    return i < cmd->elements ? cmd->element[i]->str : "";
}

static inline void impostor_note(char *log, const redisReply *cmd, size_t from)
{
    size_t len = strlen(log);

    for (size_t i = from; i < cmd->elements && len < 4000; i++)
        len += (size_t)snprintf(log + len, 4096 - len, "%s%s",
                                cmd->element[i]->str,
                                i + 1 < cmd->elements ? " " : "; ");
}

static inline bool impostor_say(int fd, const char *text)
{
    if (text == HANG_UP)
        return false;
    for (int i = 0; strcmp(text, DRIBBLE) == 0; i++) {
        if (send(fd, i == 0 ? "$" : "1", 1, MSG_NOSIGNAL) != 1)
            return false;
        usleep(5000);
    }
    return text[0] == '\0' ||
           send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* The digest of script n is 39 zeros and its letter. */
static inline bool impostor_load(struct impostor *s, int fd, const char *text)
{
    char sha[64] = "$40\r\n000000000000000000000000000000000000000?\r\n";

    s->loads++;
    if (s->load != SILENCE)
        return impostor_say(fd, s->load);
    for (size_t i = 0; i < sizeof impostor_scripts / sizeof *impostor_scripts;
         i++)
        if (strcmp(text, impostor_scripts[i]->text) == 0)
            sha[44] = (char)('a' + impostor_scripts[i]->number);
    return impostor_say(fd, sha);
}

static inline bool impostor_run(struct impostor *s, int fd,
                                const redisReply *cmd)
{
    unsigned n = (unsigned)(impostor_word(cmd, 1)[39] - 'a') % LINK_SCRIPTS;
    unsigned turn = s->asked[n]++;

    while (turn > 0 && (turn >= ANSWERS || s->scripts[n][turn] == SILENCE))
        turn--;
    s->last[0] = '\0';
    impostor_note(s->last, cmd, 2);
    return impostor_say(fd, s->scripts[n][turn]);
}

/* False: the connection ends. */
static inline bool impostor_answer(struct impostor *s, int fd,
                                   const redisReply *cmd)
{
    const char *name = impostor_word(cmd, 0);
    char info[4096];

    if (strcmp(name, "INFO") == 0) {
        snprintf(info, sizeof info, "$%zu\r\n%s\r\n", strlen(s->info), s->info);
        return impostor_say(fd, info);
    }
    if (strcmp(name, "SCRIPT") == 0)
        return impostor_load(s, fd, impostor_word(cmd, 2));
    if (strcmp(name, "EVALSHA") == 0)
        return impostor_run(s, fd, cmd);
    impostor_note(s->log, cmd, 0);
    return impostor_say(fd, strcmp(name, "AUTH") == 0 ? s->auth : s->select);
}

static inline void impostor_talk(struct impostor *s, int fd)
{
    redisReader *r = redisReaderCreate();
    char in[65536];
    bool go_on = true;
    ssize_t n;

    while (go_on && (n = read(fd, in, sizeof in)) > 0) {
        void *cmd = NULL;

        redisReaderFeed(r, in, (size_t)n);
        while (go_on && redisReaderGetReply(r, &cmd) == REDIS_OK &&
               cmd != NULL) {
            pthread_mutex_lock(&s->mtx);
            go_on = impostor_answer(s, fd, cmd);
            pthread_mutex_unlock(&s->mtx);
            freeReplyObject(cmd);
            cmd = NULL;
        }
    }
    redisReaderFree(r);
}

static inline void *impostor_serve(void *arg)
{
    struct impostor *s = arg;
    int fd;

    while ((fd = accept(s->listener, NULL, NULL)) >= 0) {
        s->connections++;
        impostor_talk(s, fd);
        close(fd);
    }
    return NULL;
}

static inline void impostor_start(struct impostor *s)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};

    memset(s, 0, sizeof *s);
    s->info = "run_id:" RUN_ID "\r\n";
    s->auth = s->select = "+OK\r\n";
    s->load = SILENCE; /* a digest */
    for (size_t i = 0; i < LINK_SCRIPTS; i++)
        for (size_t j = 0; j < ANSWERS; j++)
            s->scripts[i][j] = SILENCE;
    snprintf(s->dir, sizeof s->dir, "/tmp/urlweir-impostor.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(s->dir));
    snprintf(s->path, sizeof s->path, "%s/socket", s->dir);
    snprintf(a.sun_path, sizeof a.sun_path, "%s", s->path);
    pthread_mutex_init(&s->mtx, NULL);
    s->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(s->listener, (struct sockaddr *)&a, sizeof a), 0);
    ck_assert_int_eq(listen(s->listener, 64), 0);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, impostor_serve, s), 0);
}

/* After the clients have closed their connections. */
static inline void impostor_end(struct impostor *s)
{
    shutdown(s->listener, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->listener);
    pthread_mutex_destroy(&s->mtx);
    unlink(s->path);
    rmdir(s->dir);
}

/* A silent server is given up after `timeout_ms`. */
static inline struct redis_place impostor_place(const struct impostor *s,
                                                int64_t timeout_ms)
{
    struct redis_place p = {.at.is_unix = true,
                            .key = "k",
                            .timeout_ms = timeout_ms};

    snprintf(p.at.path, sizeof p.at.path, "%s", s->path);
    return p;
}

#endif
