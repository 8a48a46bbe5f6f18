/* SPDX-License-Identifier: MIT */
/* timebased: keeps the page that all processes share. docs/guide/daemon.md, timebased(8). */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <timebase/version.h>

#include "daemon.h"
#include "log.h"

/* As of other daemons: bad options or configuration. */
enum { EXIT_BAD_USAGE = 2 };

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
    puts("timebased: the configuration is good");
    return 0;
}

/* If one of the three were closed, the lock could get its number, and messages would go there. */
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
