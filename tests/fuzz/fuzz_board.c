/* Board files of any bytes: what is accepted can be made into a header, linker constants and a simulator. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/board_gen.h"
#include "device/board_sim.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sim_config config;
    sim_world_options world;
    devlog_error err;
    board b;
    char *text = malloc(size + 1);
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (board_parse(text, "fuzz", &b, &err) == DEVLOG_OK) {
        fuzz_got_inside();
        FILE *out = fopen("/dev/null", "w");
        b.linker[0] = 0; /* board_load has found it, and no file of this machine is to be read here */
        board_write_header(&b, out);
        for (uint32_t risc = 0; risc < b.n_riscs; risc++)
            board_write_linker(&b, risc, b.riscs[risc].kernel, out);
        fclose(out);
        /* Not created: a board may ask for more memory than there is. */
        board_to_sim(&b, &config, &world);
        board_risc_index(&b, b.riscs[0].name);
    }
    free(text);
    return 0;
}
