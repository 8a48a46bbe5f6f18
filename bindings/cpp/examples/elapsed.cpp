// SPDX-License-Identifier: MIT
// elapsed: how long a few instructions take, without what the watch itself takes.
#include <iostream>

#include <timebase.hpp>

static volatile unsigned sink;

static void work(unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        sink = sink * 2654435761u + i;
}

static void print(const char *what, const timebase::elapsed &took)
{
    std::cout << what << ": " << took.ns << " ns +/- " << took.uncertainty_ns << '\n';
}

int main()
{
    timebase::stopwatch watch;
    std::cout << "an empty lap takes " << watch.overhead_ns() << " ns; they are subtracted\n";
    print("nothing", watch.measure([] {}));
    print("work", watch.measure(work, 1000u));

    // Nested: the inner lap's own cost is taken off the outer one.
    timebase::elapsed inner{}, outer{};
    {
        const auto both = watch.scope(outer);
        work(1000);
        inner = watch.measure(work, 1000u);
    }
    print("work twice", outer);
    print("the second of the two", inner);
}
