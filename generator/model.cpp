#include "generator/model.hpp"

#include "generator/profile_reader.hpp"
#include "generator/profile_syntax.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <set>
#include <stdexcept>

namespace generator {
namespace {

// Far beyond any model, and the bytes of so many elements still fit into 63 bits.
constexpr std::uint64_t max_elements = std::uint64_t{1} << 60;
constexpr std::array<std::string_view, 1> formats{"gradburst-model/1"};

/// Every field of a model file is required.
template <typename Value>
Value required(ObjectReader& reader, std::string_view key, const std::optional<Value>& value) {
    if (!value) {
        reader.fail(key, "required");
    }
    return *value;
}

std::uint64_t required_count(ObjectReader& reader, std::string_view key, std::uint64_t least) {
    return required(reader, key, reader.count(key, {least, max_elements}));
}

double required_fraction(ObjectReader& reader, std::string_view key) {
    return required(reader, key, reader.number(key, {0, 1}));
}

/// Elements of a tensor of this shape; more than `max_elements` gives 0.
std::uint64_t shape_elements(const std::vector<std::uint64_t>& shape) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : shape) {
        if (extent == 0 || elements > max_elements / extent) {
            return 0;
        }
        elements *= extent;
    }
    return elements;
}

Tensor read_tensor(ObjectReader reader, std::uint64_t tensors) {
    Tensor tensor;
    tensor.name = required(reader, "name", reader.text("name"));
    tensor.elements = required_count(reader, "elements", 1);
    const auto shape = required(reader, "shape", reader.counts("shape", {1, max_elements}));
    const std::uint64_t last = tensors - 1;
    tensor.ready_order =
        static_cast<std::uint32_t>(required(reader, "ready_order", reader.count("ready_order", {0, last})));
    ObjectReader ready = reader.section("ready");
    tensor.ready_arithmetic = required_fraction(ready, "arithmetic");
    tensor.ready_fp32 = required_fraction(ready, "fp32");
    tensor.ready_tensor = required_fraction(ready, "tensor");
    ready.finish();
    reader.finish();
    if (shape_elements(shape) != tensor.elements) {
        reader.fail("elements", fmt::format("must be the product of the shape, is {}", tensor.elements));
    }
    return tensor;
}

ModelUnit read_unit(ObjectReader reader, std::uint64_t tensors) {
    ModelUnit unit;
    unit.name = required(reader, "name", reader.text("name"));
    unit.tensors = required(reader, "tensors", reader.count("tensors", {1, tensors}));
    reader.finish();
    return unit;
}

/// Units have different names and share all tensors among them.
void check_units(const Model& model, ObjectReader& root, const std::vector<ObjectReader>& units) {
    std::set<std::string_view> names;
    std::uint64_t tensors = 0; // cannot wrap: no unit has more tensors than the file
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (!names.insert(model.units[i].name).second) {
            units[i].fail("name", fmt::format("\"{}\" stands twice", model.units[i].name));
        }
        tensors += model.units[i].tensors;
    }
    if (!units.empty() && tensors != model.tensors.size()) {
        root.fail("units", fmt::format("must add up to the number of tensors, {}, is {}",
                                       model.tensors.size(), tensors));
    }
}

/// Names and places in the ready order are unique, hence the order is a permutation; totals match.
void check(const Model& model, std::uint64_t parameters, ObjectReader& root, ObjectReader& totals,
           const std::vector<ObjectReader>& tensors) {
    std::set<std::string_view> names;
    std::set<std::uint32_t> orders;
    std::uint64_t elements = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const Tensor& tensor = model.tensors[i];
        if (!names.insert(tensor.name).second) {
            tensors[i].fail("name", fmt::format("\"{}\" stands twice", tensor.name));
        }
        if (!orders.insert(tensor.ready_order).second) {
            tensors[i].fail("ready_order", fmt::format("{} stands twice", tensor.ready_order));
        }
        elements += tensor.elements; // cannot wrap: both stay below 2^61
        if (elements > max_elements) {
            root.fail("tensors", fmt::format("together more than {} elements", max_elements));
        }
    }
    if (elements != parameters) {
        totals.fail("parameters",
                    fmt::format("must be the tensors' elements, {}, is {}", elements, parameters));
    }
}

} // namespace

std::uint64_t element_bytes(ElementType type) {
    return type == ElementType::fp32 ? 4 : 2;
}

std::uint64_t Model::elements() const {
    std::uint64_t sum = 0;
    for (const Tensor& tensor : tensors) {
        sum += tensor.elements;
    }
    return sum;
}

Model parse_model(std::string_view json_text) {
    const nlohmann::json document = parse_json(json_text);
    const Origin origin;
    ObjectReader root(document, origin);
    Model model;
    required(root, "format", root.choice("format", formats));
    model.name = required(root, "name", root.text("name"));
    root.text("source");
    ObjectReader totals = root.section("totals");
    const std::uint64_t parameters = required_count(totals, "parameters", 1);
    const std::uint64_t count = required_count(totals, "tensors", 1);
    totals.finish();
    ObjectReader buffers = root.section("buffers");
    model.buffer_fp32_elements = required_count(buffers, "fp32_elements", 0);
    model.buffer_int64_elements = required_count(buffers, "int64_elements", 0);
    buffers.finish();
    const std::vector<ObjectReader> units = root.sections("units");
    const std::vector<ObjectReader> tensors = root.sections("tensors");
    root.finish();
    if (tensors.size() != count) {
        totals.fail("tensors",
                    fmt::format("must be the number of tensors, {}, is {}", tensors.size(), count));
    }
    for (const ObjectReader& tensor : tensors) {
        model.tensors.push_back(read_tensor(tensor, count));
    }
    check(model, parameters, root, totals, tensors);
    for (const ObjectReader& unit : units) {
        model.units.push_back(read_unit(unit, count));
    }
    check_units(model, root, units);
    return model;
}

} // namespace generator
