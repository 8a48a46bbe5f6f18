/* SPDX-License-Identifier: MIT */
/*
 * listing: the text of recorded operations, and what is done with it. Included after recorder.h and
 * the code that is recorded.
 */
#ifndef MODEL_LISTING_H
#define MODEL_LISTING_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SURPRISE_MAX 8 /* a second look may see so many publications more or fewer */

/* ---- the text */

static char text[1 << 16];
static size_t text_length;

__attribute__((format(printf, 1, 2))) static void print(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof(text) - text_length;
    int length = vsnprintf(text + text_length, room, format, arguments);
    va_end(arguments);
    text_length += length < 0 || (size_t)length >= room ? room - 1 : (size_t)length;
}

/* ---- the record */

static void record(uint64_t surprise)
{
    recorder.count = recorder.looks = 0;
    recorder.surprise = surprise;
}

static bool came_before(int index)
{
    const struct operation *operations = recorder.operation;
    for (int i = 0; i < index; i++)
        if (operations[i].kind == LOAD && operations[i].address == operations[index].address &&
            operations[i].order == operations[index].order &&
            operations[i].address != recorder.number)
            return true;
    return false;
}

static const char *order_name(int order)
{
    switch (order) {
    case __ATOMIC_RELAXED:
        return "relaxed";
    case __ATOMIC_CONSUME:
        return "consume";
    case __ATOMIC_ACQUIRE:
        return "acquire";
    case __ATOMIC_RELEASE:
        return "release";
    case __ATOMIC_ACQ_REL:
        return "acq_rel";
    default:
        return "seq_cst";
    }
}

/* A fence has neither place nor value. */
static void print_kind(const struct operation *operation)
{
    static const char *const kinds[] = {"load", "store", "fence"};
    print("    %-5s  %-7s", kinds[operation->kind], order_name(operation->order));
    print(operation->kind == FENCE ? "\n" : "  ");
}

/* ---- all of it */

static int first_difference(const char *expected)
{
    int line = 1;
    for (size_t i = 0; expected[i] == text[i]; i++) {
        if (text[i] == '\0')
            return 0;
        line += text[i] == '\n';
    }
    return line;
}

static int compare(const char *name)
{
    static char expected[sizeof(text)];
    FILE *file = fopen(name, "rb");
    if (file == NULL) {
        perror(name);
        return 1;
    }
    expected[fread(expected, 1, sizeof(expected) - 1, file)] = '\0';
    fclose(file);
    int line = first_difference(expected);
    if (line == 0)
        return 0;
    printf("%s:%d: the code's operations are others. If they are meant to be, let the models judge "
           "them:\n%s",
           name, line, text);
    return 1;
}

/* For an even number and an odd one, which are to be treated alike. */
static int list(int count, char **arguments, void (*print_all)(uint64_t number), const char *name)
{
    static char even[sizeof(text)];
    print_all(6);
    memcpy(even, text, sizeof(even));
    print_all(7);
    if (strcmp(even, text) != 0) {
        printf("even and odd numbers are treated differently:\n%s\n%s", even, text);
        return 1;
    }
    if (count < 2)
        return compare(name);
    fputs(text, stdout);
    return strcmp(arguments[1], "--print") == 0 ? 0 : 2;
}

#endif
