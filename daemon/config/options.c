/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <string.h>

#include "config.h"

const char options_help[] =
    "Usage: timebased [OPTION]...\n"
    "Keeps the page that says what the processor's counter means, for all processes to read.\n"
    "\n"
    "  --config=FILE         configuration; " CONFIG_DEFAULT ", if it exists\n"
    "  --page=PATH           the page; /run/timebase/page\n"
    "  --interval=TIME       between publications, 100ms to 2s; 250ms\n"
    "  --drift=PPM           allowance for the oscillator, 1 to 1000; 50\n"
    "  --reference=NAME[:ARGUMENT]\n"
    "                        who tells how far the system clock is from UTC; may be repeated\n"
    "  --timeline=FOLDER     keep the history of the page there, or none; none\n"
    "  --timeline-size=SIZE  and at most so much of it, 64k to 1024G; 1G\n"
    "  --metrics=PATH        file for Prometheus, or none; metrics.prom beside the page\n"
    "  --user=NAME           become this user, if started by root\n"
    "  --log-level=LEVEL     error, warning, info or debug; info\n"
    "  --never-moved=yes     this guest is never stopped, moved or restored; no\n"
    "  --lock-memory         stay in memory: never wait for a page of swapped-out code\n"
    "  --foreground          accepted and without effect: there is no background\n"
    "  --check               say what was read and what is in force by it, and end\n"
    "  --help, --version\n"
    "\n"
    "A flag goes over the configuration. SIGHUP reads the configuration again, SIGTERM ends.\n"
    "The page stays: it is then a clock in holdover. See timebased(8).\n";

/* Values of getopt_long() beside the keys of the settings. */
enum {
    WORD_CONFIG = SETTINGS_KEYS,
    WORD_LOCK_MEMORY,
    WORD_FOREGROUND,
    WORD_CHECK,
    WORD_VERSION,
    WORD_HELP = 'h',
};

#define KEY(name, key)                                                                             \
    {                                                                                              \
        name, required_argument, NULL, SETTINGS_KEY_##key                                          \
    }

/* Each key, as in the configuration and with a dash for its underscore. */
static const struct option names[] = {
    KEY("page", PAGE),
    KEY("interval", INTERVAL),
    KEY("drift", DRIFT),
    KEY("reference", REFERENCE),
    KEY("timeline", TIMELINE),
    KEY("timeline-size", TIMELINE_SIZE),
    KEY("timeline_size", TIMELINE_SIZE),
    KEY("metrics", METRICS),
    KEY("user", USER),
    KEY("log-level", LOG_LEVEL),
    KEY("log_level", LOG_LEVEL),
    KEY("never-moved", NEVER_MOVED),
    KEY("never_moved", NEVER_MOVED),
    {"config", required_argument, NULL, WORD_CONFIG},
    {"lock-memory", no_argument, NULL, WORD_LOCK_MEMORY},
    {"foreground", no_argument, NULL, WORD_FOREGROUND},
    {"check", no_argument, NULL, WORD_CHECK},
    {"version", no_argument, NULL, WORD_VERSION},
    {"help", no_argument, NULL, WORD_HELP},
    {NULL, 0, NULL, 0},
};

static int refuse(struct problem *problem, const char *argument)
{
    return problem_set(problem, "%.200s is no option: timebased --help lists them", argument);
}

static int take_key(struct options *options, enum settings_key key, const char *argument,
                    struct problem *problem)
{
    struct problem what;
    if (settings_set(&options->flags, key, optarg, strlen(optarg), &what) == 0)
        return 0;
    return problem_set(problem, "%.*s: %.400s", (int)strcspn(argument, "="), argument, what.text);
}

static int take(struct options *options, int found, const char *argument, struct problem *problem)
{
    switch (found) {
    case WORD_CONFIG:
        options->config = optarg;
        return 0;
    case WORD_LOCK_MEMORY:
        options->lock_memory = true;
        return 0;
    case WORD_FOREGROUND:
        return 0;
    case WORD_CHECK:
        options->action = OPTIONS_CHECK;
        return 0;
    case WORD_VERSION:
        options->action = OPTIONS_VERSION;
        return 0;
    case WORD_HELP:
        options->action = OPTIONS_HELP;
        return 0;
    case ':':
        return problem_set(problem, "%.200s: its value is missing: write %.200s=VALUE", argument,
                           argument);
    case '?':
        return refuse(problem, argument);
    default:
        return take_key(options, (enum settings_key)found, argument, problem);
    }
}

int options_parse(int argc, char **argv, struct options *options, struct problem *problem)
{
    static const struct options none;
    *options = none;
    opterr = 0;
    optind = 0; /* begin anew, should this be a second command line */
    for (int at = 1;; at = optind) {
        int found = getopt_long(argc, argv, "+:h", names, NULL);
        if (found == -1)
            return optind < argc ? refuse(problem, argv[optind]) : 0;
        if (take(options, found, argv[at], problem) != 0)
            return -1;
    }
}

const char *options_config(const struct options *options)
{
    return options->config != NULL ? options->config : CONFIG_DEFAULT;
}
