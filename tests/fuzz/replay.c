/* SPDX-License-Identifier: MIT */
/* replay: a fuzz target, called with each file of CORPUS and with nothing; no fuzzer needed. */
#include "target.h"

#include <dirent.h>
#include <string.h>

#define SIZE_MAX_BYTES (1 << 20)

static int replay(const char *folder, const char *name)
{
    static uint8_t data[SIZE_MAX_BYTES];
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    /* A block of its own size, so that a sanitizer sees the reader that goes beyond. */
    uint8_t *exact = malloc(size == 0 ? 1 : size);
    if (exact == NULL)
        return 1;
    memcpy(exact, data, size);
    fprintf(stderr, "%s\n", name); /* the last one named is the one that failed */
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

int main(int count, char **arguments)
{
    const char *corpus = count > 1 ? arguments[1] : CORPUS;
    DIR *folder = opendir(corpus);
    if (folder == NULL) {
        perror(corpus);
        return 1;
    }
    int failed = 0, files = 0;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.') {
            failed |= replay(corpus, entry->d_name);
            files++;
        }
    closedir(folder);
    printf("%d files of %s\n", files, corpus);
    return failed || files == 0;
}
