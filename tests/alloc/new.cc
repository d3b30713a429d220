/* operator new on the wrapped malloc, so that allocations of C++ libraries fail as well. They use
 * the form that does not throw; the other form serves code before main. */
#include <cstdlib>
#include <new>

static void *take(std::size_t size) noexcept
{
    return std::malloc(size ? size : 1);
}

static void *take_or_end(std::size_t size) noexcept
{
    void *memory = take(size);
    if (!memory)
        std::abort();
    return memory;
}

void *operator new(std::size_t size)
{
    return take_or_end(size);
}

void *operator new[](std::size_t size)
{
    return take_or_end(size);
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept
{
    return take(size);
}

void *operator new[](std::size_t size, const std::nothrow_t &) noexcept
{
    return take(size);
}

void operator delete(void *p) noexcept
{
    std::free(p);
}

void operator delete[](void *p) noexcept
{
    std::free(p);
}

void operator delete(void *p, std::size_t) noexcept
{
    std::free(p);
}

void operator delete[](void *p, std::size_t) noexcept
{
    std::free(p);
}
