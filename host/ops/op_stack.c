/* Python's frames, asked of the interpreter in this process by its stable functions (3.9 and later), which are looked up: ops of a C library
 * that Python calls have the stack of their caller, and nothing of Python is linked. See op_stack.h. */
#include "ops/op_stack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/types.h>

static struct {
    void *(*this_thread)(void); /* the calling thread's state; NULL: Python does not know it */
    void *(*current)(void);     /* of the thread that has the lock: of this one, or (before 3.12) of any */
    int (*lock)(void);          /* waits for it */
    void (*unlock)(int);
    void *(*first_interpreter)(void);
    void *(*next_interpreter)(void *);
    int (*finalizing)(void); /* may be NULL */
    void *(*frame)(void *);  /* new references, these three */
    void *(*back)(void *);
    void *(*code)(void *);
    int (*line)(void *);
    void *(*attribute)(void *, const char *);
    const char *(*utf8)(void *, ssize_t *);
    void (*release)(void *);
    void (*take_error)(void **, void **, void **);
    void (*put_error)(void *, void *, void *);
    bool found;
} py;

static void look_up(void)
{
    /* POSIX lets a pointer to a function be copied to and from void *. */
    const struct {
        void *to;
        const char *name;
        bool optional;
    } wanted[] = {
        {&py.this_thread, "PyGILState_GetThisThreadState", false},
        {&py.current, "PyThreadState_GetUnchecked", true}, /* 3.13 */
        {&py.lock, "PyGILState_Ensure", false},
        {&py.unlock, "PyGILState_Release", false},
        {&py.first_interpreter, "PyInterpreterState_Head", false},
        {&py.next_interpreter, "PyInterpreterState_Next", false},
        {&py.finalizing, "Py_IsFinalizing", true}, /* 3.13 */
        {&py.frame, "PyThreadState_GetFrame", false},
        {&py.back, "PyFrame_GetBack", false},
        {&py.code, "PyFrame_GetCode", false},
        {&py.line, "PyFrame_GetLineNumber", false},
        {&py.attribute, "PyObject_GetAttrString", false},
        {&py.utf8, "PyUnicode_AsUTF8AndSize", false},
        {&py.release, "Py_DecRef", false},
        {&py.take_error, "PyErr_Fetch", false},
        {&py.put_error, "PyErr_Restore", false},
    };
    py.found = true;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *at = dlsym(RTLD_DEFAULT, wanted[i].name);
        memcpy(wanted[i].to, &at, sizeof at);
        py.found &= at || wanted[i].optional;
    }
    void *older = dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
    if (!py.current) memcpy(&py.current, &older, sizeof older);
    older = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    if (!py.finalizing) memcpy(&py.finalizing, &older, sizeof older);
    py.found &= py.current != NULL;
}

/* What stands between the program and its ops is ours. */
static bool is_ours(const char *file, size_t n)
{
    static const char *const ends[] = {"/devlog/_ops.py", "/devlog/__main__.py", "<frozen runpy>",
                                       "/runpy.py"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t m = strlen(ends[i]);
        if (n >= m && memcmp(file + n - m, ends[i], m) == 0) return true;
    }
    return false;
}

/* A text of the frame's code; *object is to be released. NULL: it has none. */
static const char *text_of(void *code, const char *name, void **object, ssize_t *n)
{
    *object = py.attribute(code, name);
    return *object ? py.utf8(*object, n) : NULL;
}

static bool add_frame(dl_str *out, void *frame, bool first)
{
    void *code = py.code(frame), *file = NULL, *function = NULL, *plain = NULL;
    ssize_t n_file = 0, n_function = 0;
    const char *path = code ? text_of(code, "co_filename", &file, &n_file) : NULL;
    const bool shown = !path || !is_ours(path, (size_t)n_file);
    if (shown) {
        const char *name = code ? text_of(code, "co_qualname", &function, &n_function) : NULL; /* 3.11 */
        if (!name && code) name = text_of(code, "co_name", &plain, &n_function);
        dl_str text = {0};
        dl_str_add_n(&text, path ? path : "?", path ? (size_t)n_file : 1);
        dl_str_fmt(&text, ":%d ", py.line(frame));
        dl_str_add_n(&text, name ? name : "?", name ? (size_t)n_function : 1);
        if (!first) dl_str_char(out, ',');
        if (!text.failed) dl_str_json(out, text.text, text.len);
        out->failed |= text.failed;
        dl_str_free(&text);
    }
    void *const held[] = {code, file, function, plain};
    for (int i = 0; i < 4; i++)
        if (held[i]) py.release(held[i]);
    return shown;
}

static void add_frames(dl_str *out, void *thread, unsigned most)
{
    void *error[3];
    py.take_error(&error[0], &error[1], &error[2]);
    unsigned n = 0;
    for (void *frame = py.frame(thread), *back; frame; frame = back) {
        if (n < most) n += add_frame(out, frame, n == 0);
        back = n < most ? py.back(frame) : NULL;
        py.release(frame);
    }
    py.put_error(error[0], error[1], error[2]); /* what failed here is nobody's */
}

void op_stack_add(dl_str *out, unsigned most)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_up);
    void *thread = py.found ? py.this_thread() : NULL;
    if (!thread || (py.finalizing && py.finalizing())) return;
    if (py.current() == thread) {
        add_frames(out, thread, most);
        return;
    }
    /* Called without the lock, as ctypes does. The functions that take it know one interpreter: with several, this thread may have the
     * lock of another, and would wait for itself. */
    void *first = py.first_interpreter();
    if (!first || py.next_interpreter(first)) return;
    const int before = py.lock();
    add_frames(out, thread, most);
    py.unlock(before);
}
