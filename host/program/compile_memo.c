/* What the cache remembers of a question: see the header.
 *
 * A file of the cache per question: "devlog memo 1", the name of the ELF file, then for every file that was read its hash,
 * and for every folder in which headers are looked for the time of its last change, since a new header in it could be found
 * first. When anything differs, the preprocessor is asked again: nothing here can make a wrong answer, only a slow one. */
#include "program/compile_memo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"

enum { FILE_MAX_BYTES = 64 << 20, MEMO_MAX_BYTES = 1 << 20 };

static const char head[] = "devlog memo 1";

bool compile_cache_path(char path[COMPILE_PATH], const char *cache, XXH3_state_t *hash, const char *ending)
{
    const XXH128_hash_t key = XXH3_128bits_digest(hash);
    return snprintf(path, COMPILE_PATH, "%s/%016" PRIx64 "%016" PRIx64 "%s", cache, key.high64, key.low64,
                    ending) < COMPILE_PATH;
}

/* Programs in two containers may have one number. */
bool compile_part_path(char part[COMPILE_PATH], const char *path)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return snprintf(part, COMPILE_PATH, "%s.%ld-%" PRIx64 ".tmp", path, (long)gettid(),
                    (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) < COMPILE_PATH;
}

/* ---- The question ---- */

static void mix(XXH3_state_t *hash, const char *text)
{
    XXH3_128bits_update(hash, text, strlen(text) + 1);
}

static void mix_file_times(XXH3_state_t *hash, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) return;
    const uint64_t facts[] = {(uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec,
                              (uint64_t)st.st_ino};
    XXH3_128bits_update(hash, facts, sizeof facts);
}

/* The compiler, found as exec finds it. */
static bool mix_compiler(XXH3_state_t *hash, const char *name)
{
    const char *path = dl_setting_text(DL_SET_PATH);
    if (strchr(name, '/')) {
        mix_file_times(hash, name);
        return access(name, X_OK) == 0;
    }
    for (const char *p = path; p && *p; p += strcspn(p, ":"), p += *p == ':') {
        char file[COMPILE_PATH];
        if (snprintf(file, sizeof file, "%.*s/%s", (int)strcspn(p, ":"), p, name) >= (int)sizeof file ||
            access(file, X_OK) != 0)
            continue;
        mix(hash, file);
        mix_file_times(hash, file);
        return true;
    }
    return false;
}

/* True for a word that can hold a name relative to the working directory. */
static bool may_be_relative(const char *word)
{
    static const char *const plain[] = {"-D", "-U", "-O", "-W", "-f", "-m", "-g", "-std", "-nost", "-x"};
    if (word[0] == '/') return false;
    if (word[0] != '-') return true;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strncmp(word, plain[i], strlen(plain[i])) == 0 && strncmp(word, "-fplugin", 8) != 0) return false;
    const char *name = word + 2 + (word[2] == '=');
    return !((word[1] == 'I' || word[1] == 'L') && *name == '/') && strcmp(word, "-include") != 0;
}

/* A list of folders, in which an empty one is the working directory. */
static bool has_relative(const char *list)
{
    for (const char *p = list;; p++) {
        if (*p != '/') return true;
        p += strcspn(p, ":");
        if (!*p) return false;
    }
}

void compile_memo_ask(compile_memo *m, const char *cache, const char *const *argv, const char *source,
                      XXH64_hash_t more)
{
    char real[COMPILE_PATH] = "";
    bool relative = false;
    m->usable = false;
    m->argv = argv;
    XXH3_state_t *hash = XXH3_createState();
    if (!hash) return;
    XXH3_128bits_reset(hash);
    mix(hash, head);
    XXH3_128bits_update(hash, &more, sizeof more);
    bool good = mix_compiler(hash, argv[0]);
    for (uint32_t i = 1; argv[i]; i++) {
        mix(hash, argv[i]);
        /* Our own: it is found by -I. */
        relative |= may_be_relative(argv[i]) && strcmp(argv[i], "tools/profiler/kernel_profiler.hpp") != 0;
    }
    for (uint32_t i = 0; dl_setting_of_compiler(i, NULL); i++) {
        const char *value = NULL;
        mix(hash, dl_setting_of_compiler(i, &value));
        mix(hash, value ? value : "");
        relative |= value && has_relative(value);
    }
    if (source) {
        mix(hash, source); /* __FILE__ is as it was given */
        good = good && realpath(source, real);
        mix(hash, real);
    }
    if (relative) {
        good = good && getcwd(real, sizeof real);
        mix(hash, real);
    }
    m->usable = good && compile_cache_path(m->path, cache, hash, ".memo");
    XXH3_freeState(hash);
}

/* ---- What was read ---- */

/* The hash of a file's content; false when it cannot be read, or when its text is not all that it says. */
static bool hash_file(const char *path, XXH64_hash_t *out)
{
    static const char *const clocks[] = {"__DATE__", "__TIME__", "__TIMESTAMP__"};
    dl_str text = {0};
    bool good = dl_file_read(path, FILE_MAX_BYTES, &text, NULL) == DEVLOG_OK;
    if (good) *out = XXH3_64bits(text.text ? text.text : "", text.len);
    for (size_t i = 0; good && text.text && i < 3; i++)
        good = !memmem(text.text, text.len, clocks[i], strlen(clocks[i]));
    dl_str_free(&text);
    return good;
}

static bool folder_time(const char *path, uint64_t *ns)
{
    struct stat st;
    if (stat(path, &st) != 0) return false;
    *ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
    return true;
}

bool compile_memo_find(const compile_memo *m, const char *cache, char path[COMPILE_PATH])
{
    dl_str text = {0};
    if (!m->usable || access(m->path, R_OK) != 0 ||
        dl_file_read(m->path, MEMO_MAX_BYTES, &text, NULL) != DEVLOG_OK)
        return false;
    bool good = false, whole = false;
    char *save = NULL, *line = text.text ? strtok_r(text.text, "\n", &save) : NULL;
    if (line && strcmp(line, head) == 0 && (line = strtok_r(NULL, "\n", &save)) != NULL && !strchr(line, '/'))
        good = snprintf(path, COMPILE_PATH, "%s/%s", cache, line) < COMPILE_PATH && access(path, R_OK) == 0;
    while (good && !whole && (line = strtok_r(NULL, "\n", &save)) != NULL) {
        char *name;
        uint64_t there = 0, then = strlen(line) > 2 ? strtoull(line + 2, &name, 16) : 0;
        whole = strcmp(line, "end") == 0;
        if (whole || strlen(line) <= 2) continue;
        XXH64_hash_t now = 0;
        if (line[0] == 'F')
            good = *name == ' ' && hash_file(name + 1, &now) && now == then;
        else
            good =
                line[0] == 'D' && *name == ' ' && (folder_time(name + 1, &there) ? there == then : then == 0);
    }
    dl_str_free(&text);
    return good && whole;
}

/* ---- Remembering ---- */

typedef struct keeper {
    dl_str text;
    bool bad;
} keeper;

/* A line once. */
static bool has_line(const keeper *k, char kind, const char *path)
{
    size_t n = strlen(path);
    for (const char *p = k->text.text;
         p && (p = memmem(p, (size_t)(k->text.text + k->text.len - p), path, n)); p++)
        if (p[-1] == ' ' && p[n] == '\n' && p - k->text.text > 19 && p[-19] == kind) return true;
    return false;
}

static void keep_folder(keeper *k, const char *path)
{
    uint64_t ns = 0;
    if (has_line(k, 'D', path)) return;
    folder_time(path, &ns); /* 0: it is not there, and must not come to be */
    dl_str_fmt(&k->text, "D %016" PRIx64 " %s\n", ns, path);
}

static void keep_file(keeper *k, const char *name)
{
    char path[COMPILE_PATH];
    XXH64_hash_t hash = 0;
    if (!realpath(name, path) || strchr(path, '\n')) {
        k->bad = true;
        return;
    }
    if (has_line(k, 'F', path)) return;
    if (!hash_file(path, &hash)) k->bad = true;
    dl_str_fmt(&k->text, "F %016" PRIx64 " %s\n", (uint64_t)hash, path);
    *strrchr(path, '/') = 0;
    keep_folder(k, path[0] ? path : "/");
}

/* `# 12 "name" 1 3`; names in <> are the compiler's own. */
static void keep_marker(keeper *k, const char *line, size_t size)
{
    char name[COMPILE_PATH];
    size_t n = 0, i = 2;
    while (i < size && line[i] >= '0' && line[i] <= '9')
        i++;
    if (i == 2 || i + 2 >= size || line[i] != ' ' || line[i + 1] != '"' || line[i + 2] == '<') return;
    for (i += 2; i < size && line[i] != '"' && n + 1 < sizeof name; i++) {
        if (line[i] == '\\') i++; /* a quote or a backslash; anything else is told by realpath */
        if (i < size) name[n++] = line[i];
    }
    name[n] = 0;
    keep_file(k, name);
}

void compile_memo_keep(const compile_memo *m, const char *preprocessed, size_t size, const char *path)
{
    if (!m->usable || !preprocessed) return;
    keeper k = {0};
    dl_file_writer w;
    dl_str_fmt(&k.text, "%s\n%s\n", head, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
    const char *last = NULL;
    size_t last_size = 0;
    for (const char *p = preprocessed, *end = preprocessed + size, *next; p < end; p = next) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        next = newline ? newline + 1 : end;
        size_t n = (size_t)((newline ? newline : end) - p);
        if (n < 5 || p[0] != '#' || p[1] != ' ') continue;
        if (last && n == last_size && memcmp(p, last, n) == 0) continue;
        keep_marker(&k, p, n);
        last = p, last_size = n;
    }
    for (uint32_t i = 1; m->argv[i]; i++)
        if (strncmp(m->argv[i], "-I", 2) == 0 && m->argv[i][2]) keep_folder(&k, m->argv[i] + 2);
    dl_str_add(&k.text, "end\n");
    /* Not being able to remember is no failure. */
    if (!k.bad && !k.text.failed && dl_file_create(&w, m->path, NULL) == DEVLOG_OK) {
        dl_str_add_n(&w.buffer, k.text.text, k.text.len);
        dl_file_commit(&w, NULL);
    }
    dl_str_free(&k.text);
}
