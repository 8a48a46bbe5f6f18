// SPDX-License-Identifier: MIT
//
// The empty C++ program: what every C++ start-up is compared with.
#include "probe.hpp"

int main(int argc, char **argv)
{
    return probe::run(argc, argv, CLOCK_MONOTONIC, [] { return INT64_C(0); });
}
