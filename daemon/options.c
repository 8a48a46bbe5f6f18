/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <string.h>

const char options_help[] =
    "Usage: timebased [OPTION]...\n"
    "Keeps the page that says what the processor's counter means, for all processes to read.\n"
    "\n"
    "  --config=FILE         configuration; /etc/timebase/timebased.conf, if it exists\n"
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
    "  --lock-memory         stay in memory: never wait for a page of swapped-out code\n"
    "  --foreground          accepted and without effect: there is no background\n"
    "  --check               look at options and configuration, and end\n"
    "  --help, --version\n"
    "\n"
    "A flag goes over the configuration. SIGHUP reads the configuration again, SIGTERM ends.\n"
    "The page stays: it is then a clock in holdover. See timebased(8).\n";

/* "--name=value" or "--name value": the value, or NULL. */
static const char *value_of(int argc, char **argv, int *at)
{
    const char *equals = strchr(argv[*at], '=');
    if (equals != NULL)
        return equals + 1;
    return *at + 1 < argc ? argv[++*at] : NULL;
}

static bool is(const char *argument, const char *name)
{
    return strcmp(argument, name) == 0;
}

/* A flag without a value; false: it is none. */
static bool take_word(struct options *options, const char *argument)
{
    if (is(argument, "--check"))
        options->action = OPTIONS_CHECK;
    else if (is(argument, "--help") || is(argument, "-h"))
        options->action = OPTIONS_HELP;
    else if (is(argument, "--version"))
        options->action = OPTIONS_VERSION;
    else if (is(argument, "--lock-memory"))
        options->lock_memory = true;
    else
        return is(argument, "--foreground");
    return true;
}

static int take_value(struct options *options, int argc, char **argv, int *at,
                      struct problem *problem)
{
    const char *argument = argv[*at];
    size_t length = strcspn(argument, "=");
    enum settings_key key = SETTINGS_KEYS;
    bool is_config = length == 8 && memcmp(argument, "--config", 8) == 0;
    if (length > 2 && argument[0] == '-' && argument[1] == '-')
        key = settings_key_named(argument + 2, length - 2);
    if (key == SETTINGS_KEYS && !is_config)
        return problem_set(problem, "%.200s is no option: timebased --help lists them", argument);
    const char *value = value_of(argc, argv, at);
    if (value == NULL)
        return problem_set(problem, "%.200s: its value is missing: write %.200s=VALUE", argument,
                           argument);
    if (is_config) {
        options->config = value;
        return 0;
    }
    struct problem what;
    if (settings_set(&options->flags, key, value, strlen(value), &what) != 0)
        return problem_set(problem, "%.*s: %.400s", (int)length, argument, what.text);
    return 0;
}

int options_parse(int argc, char **argv, struct options *options, struct problem *problem)
{
    static const struct options none;
    *options = none;
    for (int at = 1; at < argc; at++)
        if (!take_word(options, argv[at]) && take_value(options, argc, argv, &at, problem) != 0)
            return -1;
    return 0;
}
