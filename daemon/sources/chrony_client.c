/* SPDX-License-Identifier: MIT */
/*
 * The client is another program, and so may be missing, hang, talk without end, or be killed. It
 * gets an environment and a process group of its own, nothing to read, and a pipe to write to;
 * nobody waits for it.
 */
#include "chrony.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <timebase/error.h>

/* Together a millisecond. */
enum { REAP_ATTEMPTS = 20, REAP_PAUSE_NS = 50000 };
enum { ARGUMENTS_MAX = 10 };
/* What a child of posix_spawn ends with that could not become the program, where nobody heard. */
enum { EXEC_FAILED = 127 };

static const char *const usual_programs[] = {"/usr/bin/chronyc", "/usr/local/bin/chronyc", NULL};
static const char *const *programs = usual_programs;

void chrony_set_programs(const char *const *paths)
{
    programs = paths != NULL ? paths : usual_programs;
}

/* posix_spawn wants char *, and changes nothing. */
static char *constant(const char *text)
{
    union {
        const char *from;
        char *to;
    } cast = {text};
    return cast.to;
}

static void list_arguments(char *arguments[ARGUMENTS_MAX], const char *host, const char *port)
{
    size_t count = 0;
    arguments[count++] = constant("chronyc");
    arguments[count++] = constant("-n"); /* addresses as numbers: no name service is asked */
    arguments[count++] = constant("-c");
    if (host[0] != '\0') {
        arguments[count++] = constant("-h");
        arguments[count++] = constant(host);
    }
    if (port[0] != '\0') {
        arguments[count++] = constant("-p");
        arguments[count++] = constant(port);
    }
    arguments[count++] = constant("tracking");
    arguments[count] = NULL;
}

/* The pipe first: one of the three may be its number. */
static int set_files(posix_spawn_file_actions_t *files, int output)
{
    int error = posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    return error;
}

/* Signals as at the start of a session; a group of its own, which can be killed as a whole. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0)
        error = posix_spawnattr_setsigdefault(attributes, &all);
    if (error == 0)
        error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

static int run(pid_t *pid, const char *program, char *const arguments[], int output)
{
    char *environment[] = {constant("LC_ALL=C"), constant("TZ=UTC"), constant("PATH=/usr/bin:/bin"),
                           NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_files(&files, output);
        if (error == 0)
            error = set_attributes(&attributes);
        if (error == 0)
            error = posix_spawn(pid, program, &files, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* The first program that can be run. What is missing is passed over; what is refused, named. */
static int run_first(pid_t *pid, char *const arguments[], int output)
{
    int error = ENOENT;
    for (size_t i = 0; programs[i] != NULL; i++) {
        int failure = run(pid, programs[i], arguments, output);
        if (failure == 0)
            return TIMEBASE_OK;
        if (failure != ENOENT && failure != ENOTDIR)
            error = failure;
    }
    if (error == EACCES || error == EPERM)
        return TIMEBASE_E_PERMISSION;
    return error == ENOENT ? TIMEBASE_E_UNSUPPORTED : TIMEBASE_E_REFERENCE;
}

/* A killed process is gone in no time, unless a disk holds it up: then it is left for later. */
static void reap(struct chrony_client *client)
{
    const struct timespec pause = {.tv_nsec = REAP_PAUSE_NS};
    for (int i = 0; i < REAP_ATTEMPTS && client->dying != 0; i++) {
        if (waitpid(client->dying, NULL, WNOHANG) != 0)
            client->dying = 0;
        else
            nanosleep(&pause, NULL);
    }
}

int chrony_client_start(struct chrony_client *client, const char *host, const char *port)
{
    char *arguments[ARGUMENTS_MAX];
    int pipe_fds[2];
    reap(client);
    *client = (struct chrony_client){.fd = -1, .dying = client->dying};
    if (pipe2(pipe_fds, O_CLOEXEC) != 0)
        return TIMEBASE_E_REFERENCE;
    list_arguments(arguments, host, port);
    int error = TIMEBASE_E_REFERENCE;
    if (fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK) == 0)
        error = run_first(&client->pid, arguments, pipe_fds[1]);
    close(pipe_fds[1]);
    if (error == TIMEBASE_OK) {
        client->fd = pipe_fds[0];
        return TIMEBASE_OK;
    }
    close(pipe_fds[0]);
    client->pid = 0;
    return error;
}

static void close_output(struct chrony_client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
}

/* True while more may come. */
static bool read_output(struct chrony_client *client)
{
    while (client->fd >= 0 && client->length < sizeof(client->text)) {
        ssize_t got =
            read(client->fd, client->text + client->length, sizeof(client->text) - client->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return true;
        if (got <= 0)
            close_output(client);
        else
            client->length += (size_t)got;
    }
    return false;
}

int chrony_client_poll(struct chrony_client *client)
{
    int status = 0;
    if (client->pid == 0)
        return TIMEBASE_E_REFERENCE;
    if (read_output(client))
        return TIMEBASE_E_BUSY;
    if (client->length == sizeof(client->text)) {
        chrony_client_stop(client);
        return TIMEBASE_E_FORMAT;
    }
    pid_t ended = waitpid(client->pid, &status, WNOHANG);
    if (ended == 0)
        return TIMEBASE_E_BUSY;
    client->pid = 0;
    /* Where SIGCHLD is ignored nobody hears how it ended: its text has to do. */
    if (ended < 0 && errno == ECHILD)
        return TIMEBASE_OK;
    if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXEC_FAILED)
        return TIMEBASE_E_UNSUPPORTED;
    return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? TIMEBASE_OK
                                                                      : TIMEBASE_E_REFERENCE;
}

void chrony_client_stop(struct chrony_client *client)
{
    if (client->pid == 0)
        return;
    close_output(client);
    kill(-client->pid, SIGKILL);
    client->dying = client->pid;
    client->pid = 0;
    reap(client);
}
