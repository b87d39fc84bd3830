/* Runs a fuzz target over files and folders: every corpus is a test, also where there is no clang. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static unsigned long inside;

void fuzz_got_inside(void)
{
    inside++;
}

__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv); /* few targets have one */

static int run_file(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    size_t n = 0, cap = 1 << 16;
    uint8_t *bytes = malloc(cap);
    for (size_t got; bytes && (got = fread(bytes + n, 1, cap - n, in)) > 0;) {
        n += got;
        if (n < cap) continue;
        uint8_t *more = realloc(bytes, cap *= 2);
        if (!more) free(bytes);
        bytes = more;
    }
    fclose(in);
    /* Exactly as long as the input, so that reading past its end is noticed. */
    uint8_t *exact = bytes ? malloc(n ? n : 1) : NULL;
    if (!exact) {
        fprintf(stderr, "%s: out of memory\n", path);
        free(bytes);
        return 1;
    }
    memcpy(exact, bytes, n);
    free(bytes);
    fprintf(stderr, "%s\n", path); /* the last line before a crash says which */
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0, files = 0;
    if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        struct dirent **names;
        int n = scandir(argv[i], &names, NULL, alphasort);
        for (int k = 0; k < n; k++) {
            char path[1024];
            snprintf(path, sizeof path, "%s/%s", argv[i], names[k]->d_name);
            if (names[k]->d_name[0] != '.') {
                failed += run_file(path);
                files++;
            }
            free(names[k]);
        }
        if (n >= 0) free(names);
    }
    fprintf(stderr, "%d inputs\n", files);
    if (!inside) fprintf(stderr, "none of them got inside: are they of a format of before?\n");
    return failed || files == 0 || !inside;
}
