/* Random numbers: see random.h. */
#include "support/random.h"

#include <math.h>
#include <stdlib.h>

uint64_t test_random(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

double test_uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * ((double)(test_random(seed) >> 11) / 9007199254740992.0);
}

double test_log_uniform(uint64_t *seed, double low, double high)
{
    return exp(test_uniform(seed, log(low), log(high)));
}

unsigned test_cases(unsigned usual)
{
    const char *asked = getenv("DEVLOG_TEST_CASES");
    return asked ? (unsigned)strtoul(asked, NULL, 10) : usual;
}
