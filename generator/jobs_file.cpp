#include "generator/jobs_file.hpp"

#include "generator/profile_files.hpp"
#include "generator/profile_reader.hpp"
#include "generator/profile_suggestion.hpp"
#include "generator/profile_syntax.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>

namespace generator {
namespace {

using nlohmann::json;

constexpr std::size_t most_jobs = 64;
constexpr std::size_t longest_name = 64;
constexpr std::size_t most_ranks = 1u << 20;
constexpr std::string_view rank_rule = "must be a list of ranks, a range such as \"0-3\" or \"0-3,8\", or "
                                       "{\"per_host\": 1}";

/// Set for the whole launch, by options.
constexpr std::array launch_fields{"/run/out", "/run/json", "/run/overwrite", "/run/dry_run"};

std::optional<int> rank_number(std::string_view text) {
    int rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    return error == std::errc() && end == text.data() + text.size() && rank >= 0 ? std::optional(rank)
                                                                                 : std::nullopt;
}

/// "0-3,8"; nullopt when it is not of this form.
std::optional<std::vector<int>> rank_ranges(std::string_view text) {
    std::vector<int> ranks;
    for (bool more = true; more;) {
        const std::size_t comma = text.find(',');
        more = comma != std::string_view::npos;
        const std::string_view range = text.substr(0, comma);
        text.remove_prefix(more ? comma + 1 : text.size());
        const std::size_t dash = range.find('-');
        const auto first = rank_number(range.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : rank_number(range.substr(dash + 1));
        if (!first || !last || *last < *first || static_cast<std::size_t>(*last - *first) >= most_ranks) {
            return std::nullopt;
        }
        for (int rank = *first; rank <= *last; ++rank) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

RankChoice read_ranks(ObjectReader& job) {
    RankChoice choice;
    const json* value = job.raw("ranks");
    if (value == nullptr) {
        job.fail("ranks", fmt::format("required; {}", rank_rule));
    }
    if (value->is_object()) {
        ObjectReader section = job.section("ranks");
        const auto per_host = section.count("per_host", {1, most_ranks});
        section.finish();
        if (!per_host) {
            job.fail("ranks", std::string(rank_rule));
        }
        choice.per_host = static_cast<std::uint32_t>(*per_host);
        return choice;
    }
    if (value->is_array()) {
        const auto ranks = job.counts("ranks", rank_range);
        for (const std::uint64_t rank : *ranks) {
            choice.ranks.push_back(static_cast<int>(rank));
        }
    } else if (const auto ranks =
                   value->is_string() ? rank_ranges(value->get<std::string>()) : std::nullopt) {
        choice.ranks = *ranks;
    } else {
        job.fail("ranks", fmt::format("{}, is {}", rank_rule, shown(*value)));
    }
    if (choice.ranks.empty()) {
        job.fail("ranks", "must not be empty");
    }
    std::set<int> known;
    for (const int rank : choice.ranks) {
        if (!known.insert(rank).second) {
            job.fail("ranks", fmt::format("names rank {} twice", rank));
        }
    }
    return choice;
}

std::vector<Override> read_overrides(ObjectReader& job, const std::string& file, const std::string& name) {
    std::vector<Override> overrides;
    ObjectReader section = job.section("set");
    for (const std::string& pointer : section.keys()) {
        if (!pointer.starts_with('/')) {
            section.fail(pointer, "must be a JSON pointer into the profile, such as \"/run/iterations\"");
        }
        const json* value = section.raw(pointer);
        for (const std::string_view field : launch_fields) {
            if (pointer == field) {
                section.fail(pointer, "belongs to the whole launch; give it as an option");
            }
            if (field.starts_with(pointer + "/") && value != nullptr &&
                value->contains(field.substr(pointer.size() + 1))) {
                section.fail(pointer, fmt::format("{} belongs to the whole launch; give it as an option", field));
            }
        }
        overrides.push_back({pointer, value == nullptr ? "null" : value->dump(),
                             fmt::format("{}: job {}: {}", file, name, pointer)});
    }
    return overrides;
}

JobStart read_start(ObjectReader section, const std::vector<std::string>& earlier) {
    JobStart start;
    const auto offset = section.duration("offset", {nanoseconds{0}, std::chrono::hours(24)});
    start.phase = section.number("phase", {0, 1e6});
    start.of = section.text("of").value_or("");
    start.period = section.duration("period", {std::chrono::microseconds(1), std::chrono::hours(24)});
    section.finish();
    start.offset = offset.value_or(nanoseconds{0});
    if (!start.phase) {
        for (const auto& [key, given] :
             {std::pair{"of", !start.of.empty()}, std::pair{"period", start.period.has_value()}}) {
            if (given) {
                section.fail(key, "only together with \"phase\"");
            }
        }
        return start;
    }
    if (offset) {
        section.fail("offset", "not together with \"phase\"; give one of them");
    }
    if (std::find(earlier.begin(), earlier.end(), start.of) == earlier.end()) {
        section.fail("of", start.of.empty()
                               ? std::string("required with \"phase\": the name of an earlier job")
                               : fmt::format("must be the name of an earlier job, is \"{}\"{}", start.of,
                                             suggestion(start.of, earlier)));
    }
    return start;
}

std::string read_name(ObjectReader& job, const std::vector<std::string>& earlier) {
    const auto name = job.text("name");
    if (!name) {
        job.fail("name", "required: it names the job's folder and lines");
    }
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (name->empty() || name->size() > longest_name ||
        name->find_first_not_of(allowed) != std::string::npos) {
        job.fail("name", fmt::format("must be 1 to {} letters, digits, '_' or '-', is {}", longest_name,
                                     shown(json(*name))));
    }
    if (*name == "nic") {
        job.fail("name", "must not be \"nic\", the folder of the traces");
    }
    if (std::find(earlier.begin(), earlier.end(), *name) != earlier.end()) {
        job.fail("name", fmt::format("\"{}\" is the name of another job", *name));
    }
    return *name;
}

/// As the tensor list of a profile, it lies where the file that names it lies.
std::string profile_path(const std::string& profile, const std::string& file) {
    return is_profile_path(profile) ? (std::filesystem::path(file).parent_path() / profile).string()
                                    : profile;
}

JobSpec read_job(ObjectReader job, const std::string& file, const std::vector<std::string>& earlier) {
    for (const std::string_view key : {"name", "profile", "set", "ranks", "start"}) {
        job.raw(key);
    }
    job.finish(); // before a key that is misspelt is missed
    JobSpec spec;
    spec.name = read_name(job, earlier);
    const auto profile = job.text("profile");
    if (!profile || profile->empty()) {
        job.fail("profile", "required: name or path of a profile");
    }
    spec.profile = profile_path(*profile, file);
    spec.overrides = read_overrides(job, file, spec.name);
    spec.ranks = read_ranks(job);
    spec.start = read_start(job.section("start"), earlier);
    return spec;
}

std::vector<JobSpec> read_document(const JobsSource& source) {
    const Origin origin{source.name, {}, {}};
    json document;
    try {
        document = parse_json(source.text);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(source.name + ": " + error.what());
    }
    ObjectReader root(document, origin);
    root.text("$schema"); // for editors
    std::vector<JobSpec> jobs;
    std::vector<std::string> names;
    for (ObjectReader& each : root.sections("jobs")) {
        jobs.push_back(read_job(each, source.name, names));
        names.push_back(jobs.back().name);
    }
    root.finish();
    if (jobs.empty()) {
        root.fail("jobs", "required: a list with at least one job");
    }
    if (jobs.size() > most_jobs) {
        root.fail("jobs", fmt::format("must be at most {} jobs, are {}", most_jobs, jobs.size()));
    }
    return jobs;
}

[[noreturn]] void fail(const std::string& file, std::size_t job, const std::string& rule) {
    throw ProfileError(fmt::format("{}: /jobs/{}/ranks: {}", file, job, rule));
}

} // namespace

JobsSource load_jobs(const std::string& path) {
    return {path, read_profile_file(path, path)};
}

std::vector<JobSpec> parse_jobs(const JobsSource& source) {
    try {
        return read_document(source);
    } catch (const std::invalid_argument& error) {
        throw ProfileError(error.what());
    }
}

std::vector<std::vector<int>> assign_ranks(const std::vector<JobSpec>& jobs, const std::vector<int>& hosts,
                                           const std::string& file) {
    std::vector<std::vector<int>> members(jobs.size());
    std::vector<std::optional<std::size_t>> job_of(hosts.size());
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        for (const int rank : jobs[job].ranks.ranks) {
            if (static_cast<std::size_t>(rank) >= hosts.size()) {
                fail(file, job,
                     fmt::format("names rank {}, but there are {} ranks: 0 to {}", rank, hosts.size(),
                                 hosts.size() - 1));
            }
            std::optional<std::size_t>& owner = job_of[static_cast<std::size_t>(rank)];
            if (owner) {
                fail(file, job, fmt::format("rank {} belongs to job {} already", rank, jobs[*owner].name));
            }
            owner = job;
            members[job].push_back(rank);
        }
    }
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        std::vector<std::uint32_t> taken(hosts.size(), 0); // of each host
        for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
            std::uint32_t& here = taken[static_cast<std::size_t>(hosts[rank])];
            if (!job_of[rank] && here < jobs[job].ranks.per_host) {
                job_of[rank] = job;
                members[job].push_back(static_cast<int>(rank));
                ++here;
            }
        }
    }
    std::vector<std::size_t> idle;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
        if (!job_of[rank]) {
            idle.push_back(rank);
        }
    }
    for (std::size_t job = 0; job < jobs.size(); ++job) {
        if (members[job].empty()) {
            fail(file, job, fmt::format("no rank is left for job {}", jobs[job].name));
        }
    }
    if (!idle.empty()) {
        throw ProfileError(
            fmt::format("{}: /jobs: rank {} of {} belongs to no job; start fewer ranks, or add {} to "
                        "a job",
                        file, fmt::join(idle, ", "), hosts.size(), idle.size() == 1 ? "it" : "them"));
    }
    return members;
}

std::vector<Override> joined_overrides(const std::vector<Override>& of_job,
                                       const std::vector<Override>& of_command_line) {
    std::vector<Override> joined = of_command_line;
    for (const Override& each : of_job) {
        const bool replaced =
            std::any_of(of_command_line.begin(), of_command_line.end(),
                        [&](const Override& option) { return option.pointer == each.pointer; });
        if (!replaced) {
            joined.push_back(each);
        }
    }
    return joined;
}

} // namespace generator
