#include "tools/report_junit.hpp"

#include "tools/report_sections.hpp"

#include <nlohmann/json.hpp>
#include <tinyxml2.h>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

/// Characters that XML 1.0 has no way to write.
std::string printable(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t')
            c = '?';
    return text;
}

std::string text_in(const Json& document, const std::string& path) {
    const Json found = section_in(document, path);
    return printable(found.is_string() ? found.get<std::string>() : found.is_null() ? "" : found.dump());
}

int count(const Json& run, std::string_view result) {
    int number = 0;
    for (const Json& each : run["verdict"]["expectations"])
        number += each["result"] == result ? 1 : 0;
    return number;
}

void add_property(tinyxml2::XMLElement& properties, const char* name, const std::string& value) {
    tinyxml2::XMLElement& property = *properties.InsertNewChildElement("property");
    property.SetAttribute("name", name);
    property.SetAttribute("value", value.c_str());
}

void add_case(tinyxml2::XMLElement& suite, const Json& run, const Json& expectation) {
    tinyxml2::XMLElement& test = *suite.InsertNewChildElement("testcase");
    test.SetAttribute("name", text_in(expectation, "/text").c_str());
    test.SetAttribute("classname", text_in(run, "/title").c_str());
    test.SetAttribute("time", "0");
    tinyxml2::XMLElement& properties = *test.InsertNewChildElement("properties");
    for (const char* const key : {"measured", "lower", "upper", "limit", "unit", "where"})
        add_property(properties, key, text_in(expectation, std::string("/") + key));
    const std::string reason = text_in(expectation, "/reason");
    const std::string result = text_in(expectation, "/result");
    if (result == "pass") {
        test.InsertNewChildElement("system-out")->SetText(reason.c_str());
        return;
    }
    tinyxml2::XMLElement& bad = *test.InsertNewChildElement(result == "fail" ? "failure" : "error");
    bad.SetAttribute("type", result.c_str());
    bad.SetAttribute("message", reason.c_str());
}

} // namespace

std::string junit_xml(const Json& report) {
    tinyxml2::XMLDocument document;
    document.InsertEndChild(document.NewDeclaration());
    tinyxml2::XMLElement* const suites = document.NewElement("testsuites");
    document.InsertEndChild(suites);
    suites->SetAttribute("name", "gradburst-report");
    for (const Json& run : report["runs"]) {
        if (run["role"] == "baseline")
            continue;
        tinyxml2::XMLElement& suite = *suites->InsertNewChildElement("testsuite");
        suite.SetAttribute("name", text_in(run, "/name").c_str());
        suite.SetAttribute("tests", static_cast<int>(run["verdict"]["expectations"].size()));
        suite.SetAttribute("failures", count(run, "fail"));
        suite.SetAttribute("errors", count(run, "not_measured"));
        suite.SetAttribute("skipped", 0);
        suite.SetAttribute("time", "0");
        suite.SetAttribute("timestamp", text_in(report, "/created_at").substr(0, 19).c_str());
        tinyxml2::XMLElement& properties = *suite.InsertNewChildElement("properties");
        for (const char* const key : {"kind", "status", "started_at", "program_version", "command"})
            add_property(properties, key, text_in(run, std::string("/") + key));
        for (const Json& expectation : run["verdict"]["expectations"])
            add_case(suite, run, expectation);
    }
    tinyxml2::XMLPrinter printer;
    document.Print(&printer);
    return printer.CStr();
}

} // namespace tools
