// SPDX-License-Identifier: MIT
// realtime: what does the kernel grant a punctual thread, and what is to be done about the rest?
#include <iostream>

#include <timebase.hpp>

int main()
{
    timebase::realtime_request request{};
    request.wanted = TIMEBASE_REALTIME_ALL;
    request.priority = 50;
    request.cpu = -1;
    timebase::realtime rt(request);
    for (const unsigned bit : timebase::realtime::bits)
        if (const std::error_code why = rt.refused(bit))
            std::cout << "refused  " << timebase::realtime::name(bit) << ": " << why.message()
                      << "\n         " << timebase::realtime::advice(bit) << '\n';
        else
            std::cout << "granted  " << timebase::realtime::name(bit) << '\n';
    // ... the punctual part: whatever was refused, it runs, only less punctually ...

    std::error_code left; // the destructor would do, and be silent
    rt.release(left);
    std::cout << "given back: " << (left ? left.message() : "all") << '\n';
}
