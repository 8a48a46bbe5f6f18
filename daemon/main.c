/* SPDX-License-Identifier: MIT */
/* timebased: keeps the page that all processes share. docs/guide/daemon.md, timebased(8). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <timebase/version.h>

#include "config/effective.h"
#include "daemon.h"
#include "log.h"

/* As of other daemons: bad options or configuration. */
enum { EXIT_BAD_USAGE = 2 };

/* The output can be used as a configuration: what is not a setting is a comment. */
static int check(const struct options *options, const struct settings *settings)
{
    const char *file = options_config(options);
    if (settings->has_file)
        printf("# read: %s\n", file);
    else
        printf("# not read, for there is no such file: %s\n", file);
    effective_settings_write(stdout, settings, &options->flags);
    puts("# The configuration is good.");
    return fflush(stdout) == 0 ? 0 : EXIT_FAILURE;
}

static int run(const struct options *options)
{
    struct settings settings;
    struct problem problem;
    if (daemon_settings(options, &settings, &problem) != 0) {
        log_line(LOG_ERROR, "%s", problem.text);
        return EXIT_BAD_USAGE;
    }
    if (options->action == OPTIONS_RUN)
        return daemon_run(options, &settings);
    return check(options, &settings);
}

/* If one of the three were closed, the lock could get its number, and messages would go into the
 * lock. */
static void fill_standard_files(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct options options;
    struct problem problem;
    fill_standard_files();
    if (options_parse(argc, argv, &options, &problem) != 0) {
        log_line(LOG_ERROR, "%s", problem.text);
        return EXIT_BAD_USAGE;
    }
    if (options.action == OPTIONS_HELP)
        fputs(options_help, stdout);
    else if (options.action == OPTIONS_VERSION)
        puts("timebased " TIMEBASE_VERSION);
    else
        return run(&options);
    return 0;
}
