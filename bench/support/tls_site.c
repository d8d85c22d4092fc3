/* SPDX-License-Identifier: MIT */
/*
 * tls_site.c - nginx as a child of a benchmark.
 *
 * The pages stand in its configuration, so that their text can name the host.
 * Without a master process there is one process, which ends with ours.
 */
#include "bench/support/tls_site.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINKS_MOST 14

/* Debian has it in a directory that not every PATH has. */
#define NGINX "PATH=$PATH:/usr/sbin; "

bool tls_site_installed(void)
{
    return system(NGINX "command -v nginx >/dev/null") == 0;
}

/* ---- its files ---- */

static void write_page(FILE *f, size_t page, size_t pages)
{
    fprintf(f,
            "  location = /%zu { return 200 \"<!DOCTYPE html><html><head>"
            "<title>Page %zu of $host</title></head><body><h1>$host</h1>\n<p>",
            page, page);
    for (int i = 0; i < 20; i++)
        fprintf(f, "Paragraph %d of page %zu speaks of $host once more. ", i,
                page);
    fprintf(f, "</p>\n<ul>\n");
    for (size_t i = 1; i <= LINKS_MOST && i < pages; i++) {
        size_t to = (page + i) % pages;

        fprintf(f, "<li><a href='/%zu'>Page %zu of this host</a>\n", to, to);
    }
    fprintf(f, "</ul></body></html>\n\"; }\n");
}

static bool write_conf(const struct tls_site *s, size_t hosts, size_t pages)
{
    char path[sizeof s->dir + 16];
    FILE *f;

    snprintf(path, sizeof path, "%s/conf", s->dir);
    f = fopen(path, "w");
    if (f == NULL)
        return false;
    fprintf(f,
            "daemon off; master_process off; worker_processes 1;\n"
            "worker_rlimit_nofile %zu; pid pid; error_log stderr crit;\n"
            "events { worker_connections %zu; }\n"
            "http {\n access_log off; default_type text/html;\n"
            " client_body_temp_path tmp; proxy_temp_path tmp;"
            " fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;\n"
            " keepalive_timeout 600s; keepalive_requests 1000000;\n"
            " ssl_protocols TLSv1.2 TLSv1.3;\n"
            " ssl_certificate cert.pem; ssl_certificate_key key.pem;\n"
            " server {\n"
            "  listen 0.0.0.0:%u ssl backlog=4096;\n"
            "  listen 0.0.0.0:%u ssl http2 backlog=4096;\n"
            "  allow 127.0.0.0/8; deny all;\n"
            "  location = /robots.txt { default_type text/plain;"
            " return 200 \"User-agent: *\\nAllow: /\\n\"; }\n",
            2 * hosts + 128, 2 * hosts + 64, (unsigned)s->ports[TLS_HTTP1],
            (unsigned)s->ports[TLS_HTTP2]);
    for (size_t i = 0; i < pages; i++)
        write_page(f, i, pages);
    fprintf(f, " }\n}\n");
    return fclose(f) == 0;
}

static bool make_certificate(const struct tls_site *s)
{
    char command[256];

    snprintf(command, sizeof command,
             "cd %s && openssl req -x509 -newkey ec -pkeyopt "
             "ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem "
             "-days 2 -subj /CN=bench 2>/dev/null",
             s->dir);
    return system(command) == 0;
}

/* ---- the server ---- */

/* Free ports, all different. */
static bool find_ports(uint16_t ports[TLS_PROTOCOLS])
{
    int fds[TLS_PROTOCOLS];
    bool ok = true;

    for (int i = 0; i < TLS_PROTOCOLS; i++) {
        struct sockaddr_in a = {.sin_family = AF_INET};
        socklen_t len = sizeof a;

        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ok = ok && bind(fds[i], (struct sockaddr *)&a, sizeof a) == 0 &&
             getsockname(fds[i], (struct sockaddr *)&a, &len) == 0;
        ports[i] = ntohs(a.sin_port);
    }
    for (int i = 0; i < TLS_PROTOCOLS; i++)
        close(fds[i]);
    return ok;
}

static bool listens(uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons(port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = connect(fd, (struct sockaddr *)&a, sizeof a) == 0;

    close(fd);
    return ok;
}

static void run_nginx(const struct tls_site *s)
{
    static const char command[] =
        NGINX "exec nginx -e stderr -p \"$0\" -c \"$0/conf\"";

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    execl("/bin/sh", command, "-c", command, s->dir, (char *)NULL);
    _exit(127);
}

bool tls_site_start(struct tls_site *s, size_t hosts, size_t pages)
{
    *s = (struct tls_site){.dir = "/tmp/bench_tls.XXXXXX"};
    if (mkdtemp(s->dir) == NULL || !find_ports(s->ports) ||
        !make_certificate(s) || !write_conf(s, hosts, pages))
        return false;
    s->pid = fork();
    if (s->pid == 0)
        run_nginx(s);
    for (int i = 0; i < 200 && s->pid > 0; i++) {
        if (listens(s->ports[TLS_HTTP1]) && listens(s->ports[TLS_HTTP2]))
            return true;
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
            s->pid = 0; /* stderr says why */
        usleep(50000);
    }
    return false;
}

void tls_site_stop(struct tls_site *s)
{
    char command[64];

    if (s->pid > 0) {
        kill(s->pid, SIGTERM);
        waitpid(s->pid, NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf %s", s->dir);
    if (system(command) != 0)
        fprintf(stderr, "bench: cannot remove %s\n", s->dir);
}

void tls_site_url(const struct tls_site *s, enum tls_protocol p, size_t host,
                  size_t page, char *out)
{
    snprintf(out, 64, "https://127.1.%u.%u:%u/%zu", (unsigned)(host / 250),
             (unsigned)(host % 250 + 1), (unsigned)s->ports[p], page);
}
