#include "tools/report_html.hpp"

#include "tools/report_page.hpp"

#include <array>
#include <utility>

namespace tools {

namespace {

using Json = nlohmann::ordered_json;

/// JSON inside a <script>: without '<' nothing in it can end the element. In JSON it stands in texts alone.
std::string embedded(const Json& json) {
    std::string result;
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
        if (c == '<')
            result += "\\u003c";
        else
            result += c;
    return result;
}

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text)
        switch (c) {
        case '&':
            result += "&amp;";
            break;
        case '<':
            result += "&lt;";
            break;
        case '>':
            result += "&gt;";
            break;
        default:
            result += c;
        }
    return result;
}

std::string title_of(const Json& report) {
    std::string titles;
    for (const Json& run : report.value("runs", Json::array()))
        titles += (titles.empty() ? "" : ", ") + run.value("title", std::string("run"));
    if (report.contains("sweep"))
        titles = "sweep";
    return titles + " – gradburst report";
}

} // namespace

std::string report_html(const Json& report, const Json& charts, std::string_view text) {
    const std::array<std::pair<std::string_view, std::string>, 7> parts{{
        {"title", escaped(title_of(report))},
        {"style", std::string(page::style)},
        {"text", escaped(text.empty() ? std::string_view("This page needs JavaScript to show its tables and "
                                                         "charts; report.json holds the same numbers.")
                                      : text)},
        {"report", embedded(report)},
        {"charts", embedded(charts)},
        {"dygraphs", std::string(page::dygraphs)},
        {"program", std::string(page::program)},
    }};
    // "{{name}}" in the template; what is put in its place is not looked at again.
    std::string_view rest = page::html;
    std::string result;
    while (true) {
        const std::size_t begin = rest.find("{{");
        result += rest.substr(0, begin);
        if (begin == std::string_view::npos)
            return result;
        rest.remove_prefix(begin + 2);
        const std::size_t end = rest.find("}}");
        for (const auto& [name, part] : parts)
            if (rest.substr(0, end) == name)
                result += part;
        rest.remove_prefix(end + 2);
    }
}

} // namespace tools
