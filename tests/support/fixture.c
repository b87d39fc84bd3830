/* One kernel on one RISC, ready to launch. See fixture.h. */
#include "support/fixture.h"

fixture start(const char *source, const char *risc, const char *flags, const char *sim_options)
{
    devlog_error err = {0};
    fixture f;
    f.device = open_device(NULL, sim_options);
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    f.kernel = add_kernel(f.program, source, risc, one, flags);
    return f;
}

void set_args(fixture *f, uint32_t a, uint32_t b)
{
    devlog_error err = {0};
    const uint32_t args[] = {a, b};
    check_ok(devlog_kernel_set_args(f->kernel, zero, args, 2, &err), &err);
    prepare(f->device, f->program);
}

void stop(fixture *f)
{
    devlog_error err = {0};
    devlog_program_free(f->program);
    check_ok(devlog_device_close(f->device, &err), &err);
}
