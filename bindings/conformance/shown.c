/* SPDX-License-Identifier: MIT */
/*
 * shown FILE: what the C reader says of each step of the histories in bindings/conformance/shown,
 * and that it never goes back. shown --make FILE: the same steps, with what C says, to standard output.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <timebase/clock.h>
#include <timebase/page.h>

#include "clock/attach/moment.h"
#include "clock/attach/view.h"
#include "clock/counter/probe.h"
#include "clock/line/lines.h"

#define NUMBERS_MAX 10
#define SAID_MAX 200

/* What an attached clock has, between two steps. */
struct reader {
    struct timebase_lines writers; /* the page's */
    uint64_t refresh_ticks;
    struct timebase_lines held; /* by what is known of now */
    struct view shown;
    bool has_told;
    struct timebase_instant told; /* last */
};

struct step {
    const char *name;
    unsigned count;
    uint64_t n[NUMBERS_MAX]; /* negative ones in two's complement */
};

/* The step's, in place of the library's: that of this machine is another one each time. */
static uint64_t step_ticks;

uint64_t counter_measure_step(void)
{
    return step_ticks;
}

/* ---- the page */

static bool set_validity(struct reader *reader, const struct step *step, char *said)
{
    struct timebase_validity *validity = &reader->writers.validity;
    (void)said;
    reader->refresh_ticks = step->n[0];
    validity->silent_ticks = step->n[1];
    validity->void_ticks = step->n[2];
    validity->before_esterror_ns = step->n[3];
    validity->slew_esterror_ns = step->n[4];
    validity->after_esterror_ns = step->n[5];
    validity->esterror_rate = (uint32_t)step->n[6];
    return true;
}

static struct timebase_line line_of(const uint64_t n[10])
{
    struct timebase_line line = {
        .start_ticks = n[0],
        .mono_ns = n[1],
        .utc_ns = n[2],
        .period_ns = (uint32_t)n[3],
        .period_frac = n[4],
        .flags = (uint32_t)n[5],
        .maxerror_ns = n[6],
        .drift_rate = (uint32_t)n[7],
        .slew_rate = (uint32_t)n[8],
        .utc_maxerror_ns = n[9],
    };
    return line;
}

static bool set_before(struct reader *reader, const struct step *step, char *said)
{
    (void)said;
    reader->writers.before = line_of(step->n);
    return true;
}

static bool set_slew(struct reader *reader, const struct step *step, char *said)
{
    (void)said;
    reader->writers.slew = line_of(step->n);
    return true;
}

static bool set_after(struct reader *reader, const struct step *step, char *said)
{
    (void)said;
    reader->writers.after = line_of(step->n);
    return true;
}

/* ---- the reader */

static bool is_distrusted(const struct timebase_lines *lines)
{
    return lines->after.flags & TIMEBASE_LINE_COUNTER_DISTRUSTED;
}

static bool look(struct reader *reader, const struct step *step, char *said)
{
    static const char *const states[] = {"none", "current", "silent", "expired"};
    struct timebase_lines *held = &reader->held;
    uint64_t now = step->n[0];
    *held = reader->writers;
    int state = view_silence(held, now);
    /* The two questions that show_lines() asks. */
    bool is_doubtful = view_is_outside(held, reader->refresh_ticks, now) || is_distrusted(held);
    snprintf(said, SAID_MAX, "%s %s %u %u %u", states[state], is_doubtful ? "doubtful" : "trusted",
             held->before.flags, held->slew.flags, held->after.flags);
    return true;
}

/* As hold_against_clocks() of show.c. */
static bool compare(struct reader *reader, const struct step *step, char *said)
{
    const uint64_t *n = step->n;
    struct moment moment = {n[0], n[1], (int64_t)n[2], (int64_t)n[3], n[4]};
    int64_t offset_ns = (int64_t)n[5];
    bool has_parted = moment_has_parted(&moment, &reader->held, offset_ns);
    bool is_doubted = is_distrusted(&reader->held);
    step_ticks = n[6];
    if (has_parted || is_doubted)
        reader->held = moment_lines(&moment, &reader->held, offset_ns);
    strcpy(said, has_parted ? "parted" : is_doubted ? "distrusted" : "agree");
    return true;
}

static void say_view(const struct view *view, const char *what, char *said)
{
    const struct timebase_validity *validity = &view->lines.validity;
    snprintf(said, SAID_MAX, "%s %llu %llu %llu %llu", what,
             (unsigned long long)view->lines.after.start_ticks,
             (unsigned long long)view->refresh_ticks, (unsigned long long)validity->silent_ticks,
             (unsigned long long)validity->void_ticks);
}

static bool show(struct reader *reader, const struct step *step, char *said)
{
    reader->shown = view_at(&reader->held, step->n[0]);
    say_view(&reader->shown, "line", said);
    return true;
}

/* `old` is the line that was shown up to there. */
static bool show_above(struct reader *reader, const struct step *step, char *said)
{
    uint64_t start = step->n[1];
    struct timebase_line old = *lines_line(&reader->shown.lines, start - 1);
    bool is_bridge =
        view_above(&reader->held, &old, start, (int64_t)step->n[2], step->n[0], &reader->shown);
    say_view(&reader->shown, is_bridge ? "bridge" : "line", said);
    return true;
}

static bool has_gone_back(const struct reader *reader, const struct timebase_instant *now)
{
    return reader->has_told && (int64_t)(now->ticks - reader->told.ticks) >= 0 &&
        now->mono_ns < reader->told.mono_ns;
}

static bool tell(struct reader *reader, const struct step *step, char *said)
{
    struct timebase_instant now = lines_instant(&reader->shown.lines, step->n[0]);
    snprintf(said, SAID_MAX, "%lld %lld %llu %llu %llu %u", (long long)now.mono_ns,
             (long long)now.utc_ns, (unsigned long long)now.maxerror_ns,
             (unsigned long long)now.utc_maxerror_ns, (unsigned long long)now.esterror_ns,
             now.flags);
    bool is_monotonic = !has_gone_back(reader, &now);
    reader->told = now;
    reader->has_told = true;
    return is_monotonic;
}

static bool forget(struct reader *reader, const struct step *step, char *said)
{
    (void)step;
    (void)said;
    reader->has_told = false;
    return true;
}

/* ---- the file */

/* `take` is false if the reader has gone back. */
static const struct verb {
    const char *name;
    unsigned count;
    bool (*take)(struct reader *reader, const struct step *step, char *said);
} verbs[] = {
    {"history", 0, forget}, {"page", 7, set_validity}, {"before", 10, set_before},
    {"slew", 10, set_slew}, {"after", 10, set_after},  {"look", 1, look},
    {"clocks", 7, compare}, {"show", 1, show},         {"above", 3, show_above},
    {"at", 1, tell},
};

/* The words up to the arrow, or the end. False: no step. */
static bool parse(char *text, struct step *step)
{
    step->name = strtok(text, " \n");
    step->count = 0;
    for (char *word; (word = strtok(NULL, " \n")) != NULL; step->count++) {
        char *end;
        if (step->count == NUMBERS_MAX)
            return false;
        step->n[step->count] = strtoull(word, &end, 10);
        if (*end != '\0')
            return false;
    }
    return step->name != NULL;
}

static const struct verb *verb_of(const struct step *step)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(verbs[i].name, step->name) == 0 && verbs[i].count == step->count)
            return &verbs[i];
    return NULL;
}

/* One line of the file: what C says of it goes to `said`, empty if there is nothing to say. */
static int try_line(struct reader *reader, const char *line, char *said)
{
    char text[400];
    struct step step;
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(line, "\n"), line);
    char *arrow = strstr(text, " ->");
    if (arrow != NULL)
        *arrow = '\0';
    const struct verb *verb = parse(text, &step) ? verb_of(&step) : NULL;
    said[0] = '\0';
    if (verb == NULL) {
        fprintf(stderr, "shown: no step: %s", line);
        return 2;
    }
    if (!verb->take(reader, &step, said)) {
        fprintf(stderr, "shown: C goes back, to %s: %s", said, line);
        return 1;
    }
    return 0;
}

static int make_line(const char *line, const char *said)
{
    const char *arrow = strstr(line, " ->");
    size_t length = arrow != NULL ? (size_t)(arrow - line) : strcspn(line, "\n");
    printf("%.*s%s%s\n", (int)length, line, said[0] != '\0' ? " -> " : "", said);
    return 0;
}

static int check_line(const char *line, const char *said)
{
    const char *arrow = strstr(line, " -> ");
    size_t length = arrow != NULL ? strcspn(arrow + 4, "\n") : 0;
    if (length == strlen(said) && (arrow == NULL || memcmp(arrow + 4, said, length) == 0))
        return 0;
    fprintf(stderr, "shown: C says %s: %s", said, line);
    return 1;
}

static int run(FILE *file, bool is_made)
{
    struct reader reader = {0};
    char line[400], said[SAID_MAX];
    unsigned steps = 0;
    int status = 0;
    while (status == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (line[0] == '#' || line[0] == '\n') {
            if (is_made)
                fputs(line, stdout);
            continue;
        }
        status = try_line(&reader, line, said);
        if (status == 0)
            status = is_made ? make_line(line, said) : check_line(line, said);
        steps += said[0] != '\0';
    }
    if (!is_made)
        printf("%u steps\n", steps);
    return status != 0 ? status : steps < 100;
}

int main(int argc, char **argv)
{
    bool is_made = argc == 3 && strcmp(argv[1], "--make") == 0;
    FILE *file = argc == 2 + is_made ? fopen(argv[1 + is_made], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: shown [--make] bindings/conformance/shown\n");
        return 2;
    }
    int status = run(file, is_made);
    fclose(file);
    return status;
}
