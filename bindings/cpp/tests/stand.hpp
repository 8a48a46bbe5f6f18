// SPDX-License-Identifier: MIT
// What the conformance tests are given: places, by environment variables that `check` sets, and the
// stand's own programs.
#ifndef TEST_STAND_HPP
#define TEST_STAND_HPP

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <ostream>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <timebase.hpp>

namespace stand
{

inline std::string variable(const char *name)
{
    const char *value = std::getenv(name);
    REQUIRE_MESSAGE(value != nullptr, "not in the environment: ", name);
    return value;
}

// A folder for the test's files, removed with all in it.
class folder
{
  public:
    folder()
    {
        char name[] = "/tmp/timebase-cpp-XXXXXX";
        REQUIRE(mkdtemp(name) != nullptr);
        path_ = name;
        REQUIRE(chmod(name, 0755) == 0);
    }
    ~folder()
    {
        const std::string command = "rm -rf " + path_;
        CHECK(std::system(command.c_str()) == 0);
    }
    folder(const folder &) = delete;
    folder &operator=(const folder &) = delete;
    std::string operator/(const std::string &name) const
    {
        return path_ + "/" + name;
    }
    const std::string &path() const
    {
        return path_;
    }

  private:
    std::string path_;
};

// A program of the stand at work, killed at the end of this object's life. TIMEBASE_STAND_RUN is
// the emulator of another processor, if it needs one.
class program
{
  public:
    explicit program(std::vector<std::string> arguments)
    {
        if (const char *emulator = std::getenv("TIMEBASE_STAND_RUN"))
            if (*emulator != '\0')
                arguments.insert(arguments.begin(), emulator);
        std::vector<char *> pointers;
        for (std::string &argument : arguments)
            pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        pid_ = fork();
        REQUIRE(pid_ >= 0);
        if (pid_ == 0) {
            dup2(ends[1], 1);
            close(ends[0]);
            close(ends[1]);
            execvp(pointers[0], pointers.data());
            _exit(127);
        }
        close(ends[1]);
        output_ = fdopen(ends[0], "r");
    }
    ~program()
    {
        if (pid_ > 0)
            kill(pid_, SIGKILL);
        wait();
        fclose(output_);
    }
    program(const program &) = delete;
    program &operator=(const program &) = delete;

    std::string line()
    {
        char text[256] = "";
        return fgets(text, sizeof text, output_) != nullptr ? text : "";
    }
    bool has_ended()
    {
        if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_)
            pid_ = 0;
        return pid_ == 0;
    }
    int wait()
    {
        int status = -1;
        if (pid_ > 0)
            waitpid(pid_, &status, 0);
        pid_ = 0;
        return status;
    }

  private:
    pid_t pid_;
    FILE *output_;
};

// A page's file, mapped read-only.
class mapped
{
  public:
    explicit mapped(const std::string &path)
    {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        REQUIRE(file >= 0);
        memory_ = mmap(nullptr, TIMEBASE_PAGE_SIZE, PROT_READ, MAP_SHARED, file, 0);
        close(file);
        REQUIRE(memory_ != MAP_FAILED);
    }
    ~mapped()
    {
        munmap(memory_, TIMEBASE_PAGE_SIZE);
    }
    mapped(const mapped &) = delete;
    mapped &operator=(const mapped &) = delete;
    const timebase_page &page() const
    {
        return *static_cast<const timebase_page *>(memory_);
    }

  private:
    void *memory_;
};

} // namespace stand

#endif
