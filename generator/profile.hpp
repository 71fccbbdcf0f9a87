#pragma once

#include "collectors/units.hpp"
#include "generator/failure.hpp"
#include "generator/group.hpp"
#include "generator/message_sizes.hpp"
#include "generator/model.hpp"
#include "generator/plan.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

using collectors::BitRate;
using std::chrono::nanoseconds;

/// The user's mistake in a profile or an option; exit code 2. The message names file, JSON path and rule.
class ProfileError : public UserError {
    using UserError::UserError;
};

/// When gradients become ready during backward; `points` are given by the profile.
enum class ReadyCurve { arithmetic, fp32, tensor, uniform, points };
enum class Bucketing { single, ddp, per_tensor, explicit_list, horovod, partitioned };
enum class Sharding { none, zero1, fsdp }; ///< what the ranks share out among them: see `make_workload`

/// A corner of a ready curve: so much of the backward pass has passed when so many bytes are ready.
struct CurvePoint {
    double backward = 0; ///< fraction of the backward pass
    double bytes = 0;    ///< fraction of the gradients' bytes

    bool operator==(const CurvePoint&) const = default;
};

/// Forward, backward and optimizer time of one iteration.
struct ComputeTimes {
    nanoseconds forward{0};
    nanoseconds backward{0};
    nanoseconds optimizer{0};

    nanoseconds total() const { return forward + backward + optimizer; }
    bool operator==(const ComputeTimes&) const = default;
};

/// Rare iterations that take much longer: with `probability`, the time is multiplied by a Pareto number, at
/// least `factor`, of which the share (factor / x)^shape exceeds x.
struct HeavyTail {
    double probability = 0; ///< of each iteration, on each rank by itself
    double factor = 2;
    std::uint32_t shape = 3;

    bool operator==(const HeavyTail&) const = default;
};

/// T_i = T (1 + drift + white) x tail: drift is AR(1). Standard deviations are shares of T.
struct Jitter {
    double drift_sd = 0;
    double drift_rho = 0.9;
    double white_sd = 0;
    HeavyTail heavy_tail;

    bool operator==(const Jitter&) const = default;
};

/// A rank waits for input before its forward pass: by chance, each rank by itself, or in every n-th iteration
/// on all ranks.
struct InputStalls {
    double probability = 0;
    std::uint32_t every = 0; ///< 0: by chance
    nanoseconds time{0};

    bool operator==(const InputStalls&) const = default;
};

/// Ranks that compute slower for a while.
struct Straggler {
    std::vector<int> ranks;
    double factor = 1; ///< on the time of an iteration
    std::uint32_t from = 0;
    std::optional<std::uint32_t> to; ///< last iteration; empty: until the end
    double probability = 1;          ///< of each iteration, on each of the ranks by itself

    bool operator==(const Straggler&) const = default;
};

/// A bucket that the profile gives directly, instead of deriving it from tensors. Times count from the start
/// of the iteration, in the rank's own computing.
struct ExplicitBucket {
    std::uint64_t bytes = 0;
    nanoseconds ready_after{0};
    std::optional<nanoseconds> needed_at; ///< empty: where the optimizer starts
    Collective collective = Collective::all_reduce;
    std::uint32_t group = 0;  ///< 0: all ranks; else the profile's group number `group` - 1
    std::uint32_t repeat = 1; ///< so many copies,
    nanoseconds every{0};     ///< each so much later than the one before

    bool operator==(const ExplicitBucket&) const = default;
};

struct GradientSettings {
    Bucketing bucketing = Bucketing::single;
    std::uint64_t first_bucket_bytes = 1048576;            ///< ddp: cap of the first bucket
    std::uint64_t bucket_cap_bytes = 26214400;             ///< ddp: cap of the others
    std::uint64_t fusion_threshold = 134217728;            ///< horovod: most bytes in one message
    nanoseconds cycle_time = std::chrono::milliseconds(1); ///< horovod: between two looks at what is ready
    std::uint64_t partition_bytes = 4096000;               ///< partitioned: most bytes of one piece
    Sharding sharding = Sharding::none;
    std::uint32_t prefetch = 1;          ///< fsdp: units that are gathered ahead
    bool first_iteration_single = true;  ///< ddp: iteration 0 sends the model as one bucket
    bool overlap = false;                ///< false: every bucket is ready after backward
    bool broadcast_buffers = false;      ///< rank 0 broadcasts batch-norm buffers before forward
    std::vector<ExplicitBucket> buckets; ///< explicit_list

    bool operator==(const GradientSettings&) const = default;
};

struct CollectiveSettings {
    Algorithm algorithm = Algorithm::ring;
    Service service = Service::sequenced; ///< of the server
    int server_rank = 0;                  ///< of the whole job
    std::uint32_t channels = 1;           ///< parallel plans that share the bytes
    std::uint32_t sockets_per_channel = 1;
    std::uint32_t in_flight = 1;          ///< collectives of one group at the same time
    std::uint64_t segment_bytes = 262144; ///< a chunk is handed on in pieces of this size

    bool operator==(const CollectiveSettings&) const = default;
};

struct PortRange {
    std::uint16_t first = 0; ///< 0: the kernel chooses
    std::uint16_t last = 0;

    bool operator==(const PortRange&) const = default;
};

/// Of a job's data connections. What is empty is left to the kernel.
struct SocketSettings {
    std::string congestion_control;
    std::optional<std::uint32_t> dscp;  ///< 6 bits of the IP header
    std::optional<BitRate> pacing_rate; ///< of each connection
    std::optional<std::uint64_t> send_buffer_bytes;
    std::optional<std::uint64_t> receive_buffer_bytes;
    bool no_delay = true; ///< TCP_NODELAY

    bool operator==(const SocketSettings&) const = default;
};

struct NetworkSettings {
    std::vector<std::string> interfaces; ///< names, prefixes ("eth*") or CIDR; empty: chosen at run time
    PortRange ports;
    SocketSettings sockets;
    std::optional<BitRate> line_rate; ///< empty: read from the interface
    std::chrono::milliseconds connect_timeout{10000};
    /// No byte moves for so long while a bucket is in flight: failed.
    std::chrono::milliseconds stall_timeout{30000};

    bool operator==(const NetworkSettings&) const = default;
};

/// When messages of background traffic fall due: evenly, by chance, or as the answers of several servers to
/// one client at the same time.
enum class BackgroundPattern { constant, poisson, incast };

/// Traffic beside the collectives, in flows that have a connection each. Neither `scale` changes it.
struct BackgroundEntry {
    std::string name;
    BackgroundPattern pattern = BackgroundPattern::constant;
    std::vector<int> from; ///< ranks that send, of incast the servers; empty: all
    std::vector<int> to;   ///< ranks that receive, of incast the clients; empty: all
    BitRate rate;          ///< constant, poisson: mean payload rate that each flow offers
    MessageSizes sizes;
    double queries_per_second = 0;       ///< incast: mean of each client
    std::optional<std::uint32_t> fan_in; ///< incast: servers that answer a query; empty: all
    SocketSettings sockets;

    bool operator==(const BackgroundEntry&) const = default;
};

struct ScaleSettings {
    double bytes = 1;
    double time = 1;
    std::optional<BitRate> reference_rate; ///< on a link of rate C, bytes are scaled by C / reference_rate

    bool operator==(const ScaleSettings&) const = default;
};

struct RunSettings {
    /// Empty: no limit, because only a duration is given. With both, whichever ends first.
    std::optional<std::uint32_t> iterations = 20;
    std::optional<nanoseconds> duration; ///< stop starting iterations after this long
    std::uint32_t warmup = 1;            ///< first iterations that statistics leave out
    std::uint64_t seed = 1;
    bool verify = false; ///< carry and check real float32 sums
    bool dry_run = false;
    bool json = false; ///< results as JSON on standard output
    bool overwrite = false;
    std::string out; ///< run directory; empty: gradburst-<UTC time>

    bool operator==(const RunSettings&) const = default;
};

struct SamplingSettings {
    nanoseconds interval = std::chrono::microseconds(500);
    bool tcp_info = true; ///< of the ranks' connections, at the end of each bucket

    bool operator==(const SamplingSettings&) const = default;
};

/// What is emulated; the thing that users edit. Valid by construction: see `parse_profile`.
struct Profile {
    std::string name;
    std::string description;
    std::string model_file; ///< path of the tensor list as the profile names it; empty without one
    Model model;            ///< no tensors when buckets are given explicitly
    ElementType element_type = ElementType::fp32;
    ComputeTimes compute;                 ///< one forward and backward pass, and the optimizer
    std::uint32_t accumulation_steps = 1; ///< forward and backward passes per iteration
    ReadyCurve ready_curve = ReadyCurve::fp32;
    std::vector<CurvePoint> curve_points; ///< of ReadyCurve::points, from (0, 0) to (1, 1)
    Jitter jitter;
    InputStalls input_stalls;
    std::vector<Straggler> stragglers;
    std::vector<Group> groups; ///< that explicit buckets name, by name
    GradientSettings gradients;
    CollectiveSettings collective;
    NetworkSettings network;
    std::vector<BackgroundEntry> background;
    ScaleSettings scale;
    RunSettings run;
    SamplingSettings sampling;
    std::vector<std::string> expect; ///< see parse_expectation; every one of them parses

    bool operator==(const Profile&) const = default;
};

/// A profile as text, with everything that is needed to parse it on another host: rank 0 reads it, all ranks
/// parse the same text.
struct ProfileSource {
    std::string name;       ///< for messages: file name, or the name under which it was found
    std::string text;       ///< JSON
    std::string model_text; ///< JSON of the tensor list that the profile names; empty if it names none
    std::map<std::string, std::string> cdf_texts; ///< files of message sizes, by the names in the profile
};

/// A value given on the command line: sets the field at `pointer` ("/run/iterations") before the profile is
/// checked. It replaces whatever says the same in the profile: `--duration` its iterations, `/compute/time`
/// its images per second and batch, `/compute/forward` its `forward_ms`. "/model/tensors" cannot be set, its
/// file is read before.
struct Override {
    std::string pointer;
    std::string json;   ///< value as JSON text, e.g. `20` or `"25MiB"`
    std::string option; ///< for messages: "--iterations"
};

/// Reads a profile by path (has a '/' or ends in .json) or by name from `folders`; reads the model file it
/// names, relative to the profile. Throws ProfileError: not found (lists what there is), unreadable, not
/// JSON.
ProfileSource load_profile(const std::string& name_or_path,
                           const std::vector<std::filesystem::path>& folders);

/// Parses and checks in one pass. Every unknown key is an error with its JSON path and the nearest known key.
/// Throws ProfileError ("resnet50.json: /run/iterations: must be at least 1, is 0").
Profile parse_profile(const ProfileSource& source, const std::vector<Override>& overrides = {});

/// The effective profile with every field and its value, as JSON text in canonical form (sorted keys, base
/// units); it can be parsed again together with the same model text.
std::string effective_profile_json(const Profile& profile);

/// 64-bit FNV-1a, as 16 hex digits, over the model and the effective profile without what cannot change the
/// traffic: names, description, path of the tensor list, what is expected, and run's out, json, overwrite and
/// dry_run.
std::string profile_hash(const Profile& profile);

/// A profile found in a folder, for --list-profiles.
struct ProfileListing {
    std::string name;
    std::string description;
    std::filesystem::path path;
};
std::vector<ProfileListing> list_profiles(const std::vector<std::filesystem::path>& folders);

/// Where profiles are looked for: $GRADBURST_PROFILES, then ../share/gradburst/profiles beside the
/// executable's folder.
std::vector<std::filesystem::path> profile_folders();

} // namespace generator
