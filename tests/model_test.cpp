#include "generator/model.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

using generator::Model;
using generator::parse_model;
using tests::message_of;

namespace {

std::string shipped_text(const std::string& name = "resnet50") {
    std::ifstream file(GRADBURST_SOURCE_DIR "/profiles/models/" + name + ".json");
    return {std::istreambuf_iterator<char>(file), {}};
}

/// A model of two tensors, 6 + 2 elements.
const std::string two_tensors = R"({"format": "gradburst-model/1", "name": "small", "source": "by hand",
 "totals": {"parameters": 8, "tensors": 2}, "buffers": {"fp32_elements": 4, "int64_elements": 1},
 "tensors": [
  {"name": "w", "shape": [2, 3], "elements": 6, "ready_order": 1, "ready": {"arithmetic": 1, "fp32": 1, "tensor": 1}},
  {"name": "b", "shape": [2], "elements": 2, "ready_order": 0, "ready": {"arithmetic": 0.5, "fp32": 0.4, "tensor": 0.3}}
 ]})";

std::string model_error(const std::string& text) {
    return message_of<std::invalid_argument>([&] { parse_model(text); });
}

std::string replaced(const std::string& what, const std::string& by) {
    std::string text = two_tensors;
    REQUIRE(text.find(what) != std::string::npos);
    return text.replace(text.find(what), what.size(), by);
}

} // namespace

TEST_CASE("ResNet-50's tensor list has the published totals", "[model]") {
    const Model model = parse_model(shipped_text());
    CHECK(model.name == "resnet50");
    CHECK(model.tensors.size() == 161);
    CHECK(model.elements() == 25'557'032);
    CHECK(model.elements() * element_bytes(generator::ElementType::fp32) == 102'228'128);
    CHECK(model.buffer_fp32_elements == 53'120);
    CHECK(model.buffer_int64_elements == 53);
    // 64 filters of 3 x 7 x 7: the first parameter, and the last whose gradient is ready.
    CHECK(model.tensors.front().name == "conv1.weight");
    CHECK(model.tensors.front().elements == 64 * 3 * 7 * 7);
    CHECK(model.tensors.front().ready_order == 160);
    CHECK(model.tensors.back().name == "fc.bias");
    CHECK(model.tensors.back().ready_order == 0);
}

TEST_CASE("later in the ready order is never earlier in time", "[model]") {
    const auto name = GENERATE(as<std::string>{}, "resnet18", "resnet50", "resnet101", "resnet152", "vgg16",
                               "bert-large", "gpt2-small", "gpt2-medium", "llama2-7b");
    INFO(name);
    Model model = parse_model(shipped_text(name));
    std::sort(model.tensors.begin(), model.tensors.end(),
              [](const auto& left, const auto& right) { return left.ready_order < right.ready_order; });
    for (std::size_t i = 1; i < model.tensors.size(); ++i) {
        CHECK(model.tensors[i].ready_arithmetic >= model.tensors[i - 1].ready_arithmetic);
        CHECK(model.tensors[i].ready_fp32 >= model.tensors[i - 1].ready_fp32);
        CHECK(model.tensors[i].ready_tensor >= model.tensors[i - 1].ready_tensor);
    }
}

TEST_CASE("an element has the bytes of its type", "[model]") {
    CHECK(element_bytes(generator::ElementType::fp32) == 4);
    CHECK(element_bytes(generator::ElementType::fp16) == 2);
    CHECK(element_bytes(generator::ElementType::bf16) == 2);
}

TEST_CASE("a small model is read field by field", "[model]") {
    const Model model = parse_model(two_tensors);
    CHECK(model.elements() == 8);
    CHECK(model.tensors[1] == generator::Tensor{"b", 2, 0, 0.5, 0.4, 0.3});
}

TEST_CASE("a wrong tensor list names the JSON path and the rule", "[model]") {
    CHECK(model_error(replaced("\"parameters\": 8", "\"parameters\": 9")) ==
          "/totals/parameters: must be the tensors' elements, 8, is 9");
    CHECK(model_error(replaced("\"tensors\": 2", "\"tensors\": 3")) ==
          "/totals/tensors: must be the number of tensors, 2, is 3");
    CHECK(model_error(replaced("\"name\": \"b\"", "\"name\": \"w\"")) ==
          "/tensors/1/name: \"w\" stands twice");
    CHECK(model_error(replaced("\"ready_order\": 0", "\"ready_order\": 1")) ==
          "/tensors/1/ready_order: 1 stands twice");
    CHECK(model_error(replaced("\"ready_order\": 0", "\"ready_order\": 2")) ==
          "/tensors/1/ready_order: must be at most 1, is 2");
    CHECK(model_error(replaced("0.4", "1.5")) == "/tensors/1/ready/fp32: must be at most 1, is 1.5");
    CHECK(model_error(replaced("0.4", "-0.5")) == "/tensors/1/ready/fp32: must be at least 0, is -0.5");
    CHECK(model_error(replaced("[2, 3]", "[2, 4]")) ==
          "/tensors/0/elements: must be the product of the shape, is 6");
    CHECK(model_error(replaced("\"shape\": [2], ", "")) == "/tensors/1/shape: required");
    CHECK(model_error(replaced("gradburst-model/1", "gradburst-model/2")) ==
          "/format: must be one of gradburst-model/1, is \"gradburst-model/2\"; did you mean "
          "\"gradburst-model/1\"?");
    CHECK(model_error(replaced("\"source\"", "\"sauce\"")) ==
          "/sauce: unknown key; did you mean \"source\"? known keys: format, name, source, totals, buffers, "
          "units, tensors");
    CHECK(model_error("[]") == "/: must be an object, is a list");
}

TEST_CASE("a shape whose product wraps around 64 bits is refused", "[model]") {
    // 2^32 x 2^32 is 0 modulo 2^64, 2^32 x (2^32 + 1) is 2^32.
    CHECK(model_error(replaced("[2, 3]", "[4294967296, 4294967296]")) ==
          "/tensors/0/elements: must be the product of the shape, is 6");
    CHECK(model_error(replaced("\"elements\": 6", "\"elements\": 18446744073709551616")) ==
          "/tensors/0/elements: must be at most 1152921504606846976, is 1.8446744073709552e+19");
}

TEST_CASE("units share the tensors in registration order", "[model]") {
    const std::string both =
        replaced("\"tensors\": [", R"("units": [{"name": "all", "tensors": 2}], "tensors": [)");
    CHECK(parse_model(both).units == std::vector<generator::ModelUnit>{{"all", 2}});
    CHECK(parse_model(two_tensors).units.empty());
}

TEST_CASE("units that do not add up to the tensors are refused", "[model]") {
    const auto with_units = [](const std::string& units) {
        return replaced("\"tensors\": [", "\"units\": [" + units + "], \"tensors\": [");
    };
    CHECK(model_error(with_units(R"({"name": "a", "tensors": 1})")) ==
          "/units: must add up to the number of tensors, 2, is 1");
    CHECK(model_error(with_units(R"({"name": "a", "tensors": 1}, {"name": "b", "tensors": 2})")) ==
          "/units: must add up to the number of tensors, 2, is 3");
    CHECK(model_error(with_units(R"({"name": "a", "tensors": 3})")) ==
          "/units/0/tensors: must be at most 2, is 3");
    CHECK(model_error(with_units(R"({"name": "a", "tensors": 0}, {"name": "b", "tensors": 2})")) ==
          "/units/0/tensors: must be at least 1, is 0");
    CHECK(model_error(with_units(R"({"name": "a", "tensors": 1}, {"name": "a", "tensors": 1})")) ==
          "/units/1/name: \"a\" stands twice");
    CHECK(model_error(with_units(R"({"tensors": 2})")) == "/units/0/name: required");
}

namespace {

struct Published {
    std::string file;
    std::uint64_t parameters;
    std::size_t tensors;
    std::size_t units;
};

// Parameters as published; tensors and units counted in the architecture: ResNets have a stem, blocks (8, 16,
// 33, 50) and fc; VGG-16 has 16 layers with weights; the others have layers (24, 12, 24, 32), what is before
// and what is after.
const std::vector<Published> zoo{{"resnet18", 11'689'512, 62, 10},     {"resnet50", 25'557'032, 161, 18},
                                 {"resnet101", 44'549'160, 314, 35},   {"resnet152", 60'192'808, 467, 52},
                                 {"vgg16", 138'357'544, 32, 16},       {"bert-large", 336'226'108, 398, 26},
                                 {"gpt2-small", 124'439'808, 148, 14}, {"gpt2-medium", 354'823'168, 292, 26},
                                 {"llama2-7b", 6'738'415'616, 291, 34}};

} // namespace

TEST_CASE("every shipped tensor list has the published totals", "[model]") {
    for (const Published& published : zoo) {
        INFO(published.file);
        const Model model = parse_model(shipped_text(published.file));
        CHECK(model.name == published.file);
        CHECK(model.elements() == published.parameters);
        CHECK(model.tensors.size() == published.tensors);
        CHECK(model.units.size() == published.units);
    }
}

TEST_CASE("a decoder layer of Llama-2-7B is one unit of 202,383,360 parameters", "[model]") {
    const Model model = parse_model(shipped_text("llama2-7b"));
    std::size_t tensor = 0;
    for (const generator::ModelUnit& unit : model.units) {
        std::uint64_t elements = 0;
        for (const std::size_t end = tensor + unit.tensors; tensor < end; ++tensor)
            elements += model.tensors[tensor].elements;
        INFO(unit.name);
        // Embedding and output head are 32,000 x 4,096 each; the head's unit has the last norm too.
        if (unit.name == "embedding")
            CHECK(elements == 131'072'000);
        else if (unit.name == "final norm and head")
            CHECK(elements == 131'072'000 + 4'096);
        else
            CHECK(elements == 202'383'360);
    }
}
