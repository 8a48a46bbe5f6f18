/* SPDX-License-Identifier: MIT */
/*
 * error: the C library's errors as std::error_code.
 *
 *     std::error_code ec;
 *     auto clock = timebase::attach("/run/timebase/page", ec);
 *     if (ec == timebase::errc::not_found)
 *         ... no daemon; ec.message() says it in words ...
 *
 * Where exceptions are on, the forms without an error_code throw timebase::error.
 */
#ifndef TIMEBASE_ERROR_HPP
#define TIMEBASE_ERROR_HPP

#include <string>
#include <system_error>

#include <timebase/error.h>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define TIMEBASE_EXCEPTIONS 1
#else
#define TIMEBASE_EXCEPTIONS 0
#endif

/* A wrapper around a reading: whether the reading itself is inlined is decided as in C. */
#define TIMEBASE_WRAPPER __attribute__((always_inline)) inline

namespace timebase
{

/* enum timebase_error; success is an error_code that is false. */
enum class errc {
    invalid = TIMEBASE_E_INVALID,
    unsupported = TIMEBASE_E_UNSUPPORTED,
    permission = TIMEBASE_E_PERMISSION,
    busy = TIMEBASE_E_BUSY,
    stale = TIMEBASE_E_STALE,
    disrupted = TIMEBASE_E_DISRUPTED,
    torn = TIMEBASE_E_TORN,
    format = TIMEBASE_E_FORMAT,
    reference = TIMEBASE_E_REFERENCE,
    timeout = TIMEBASE_E_TIMEOUT,
    not_found = TIMEBASE_E_NOT_FOUND,
    untrusted = TIMEBASE_E_UNTRUSTED,
    resource = TIMEBASE_E_RESOURCE,
    estimate = TIMEBASE_E_ESTIMATE,
    too_early = TIMEBASE_E_TOO_EARLY,
    too_late = TIMEBASE_E_TOO_LATE,
    gap = TIMEBASE_E_GAP,
    ambiguous = TIMEBASE_E_AMBIGUOUS,
    no_boot = TIMEBASE_E_NO_BOOT,
};

} // namespace timebase

template <> struct std::is_error_code_enum<timebase::errc> : std::true_type {
};

namespace timebase
{

/* A result's constant English sentence; never null. */
inline const char *strerror(int result) noexcept
{
    return ::timebase_strerror(result);
}

namespace detail
{
class category final : public std::error_category
{
  public:
    const char *name() const noexcept override
    {
        return "timebase";
    }
    std::string message(int result) const override
    {
        return ::timebase_strerror(result);
    }
    /* What portable code asks for: ec == std::errc::timed_out. */
    std::error_condition default_error_condition(int result) const noexcept override
    {
        switch (static_cast<errc>(result)) {
        case errc::invalid:
            return std::errc::invalid_argument;
        case errc::unsupported:
            return std::errc::not_supported;
        case errc::permission:
        case errc::untrusted:
            return std::errc::permission_denied;
        case errc::busy:
            return std::errc::resource_unavailable_try_again;
        case errc::timeout:
            return std::errc::timed_out;
        case errc::not_found:
            return std::errc::no_such_file_or_directory;
        default:
            return {result, *this};
        }
    }
};
} // namespace detail

inline const std::error_category &category() noexcept
{
    static const detail::category only;
    return only;
}

inline std::error_code make_error_code(errc error) noexcept
{
    return {static_cast<int>(error), category()};
}

/* The error_code of a C function's result; of 0 and positive ones, none. */
inline std::error_code error_code_of(int result) noexcept
{
    return result < 0 ? std::error_code(result, category()) : std::error_code();
}

#if TIMEBASE_EXCEPTIONS
class error : public std::system_error
{
  public:
    error(std::error_code code, const std::string &what) : std::system_error(code, what)
    {
    }
};

namespace detail
{
inline void throw_if(std::error_code code, const char *what)
{
    if (code)
        throw error(code, what);
}
} // namespace detail
#endif

} // namespace timebase

#endif
