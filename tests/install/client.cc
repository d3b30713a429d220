/* External C++ program: the header and its names work in C++. */
#include <evenkeel.h>

#include <iostream>
#include <memory>
#include <string>

int main()
{
    std::unique_ptr<ek_error, decltype(&ek_error_free)> error(ek_error_new(), ek_error_free);
    ek_assets *assets = nullptr;
    int code = ek_assets_load(&assets, "absent.yaml", "absent.ekp", nullptr, nullptr, error.get());
    std::string message = ek_error_message(error.get());
    std::cout << ek_version() << '\n' << message << '\n';
    return code != 0 && assets == nullptr && message.find("absent") != std::string::npos ? 0 : 1;
}
