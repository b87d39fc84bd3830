/* Undefined behaviour on purpose, with the flags that everything here is built with: ctest looks whether it is noticed. */
#include <limits.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    volatile int most = INT_MAX;
    return most + (argc > 1 ? atoi(argv[1]) : 0);
}
