#pragma once

#include "generator/agreement.hpp"
#include "generator/run_directory.hpp"
#include "generator/sweep_record.hpp"
#include "generator/sweep_steps.hpp"

#include <string>
#include <vector>

namespace generator {

/// What rank 0 keeps of a sweep: sweep.json is as good as what is known after each step, whatever comes.
class SweepResults {
public:
    /// `launch` must outlive this. Writes what it can say: that the sweep did not end.
    SweepResults(const LaunchAgreement& launch, RunDirectory directory, const std::string& command);

    const std::filesystem::path& path() const { return directory_.path(); }
    const SweepRecord& record() const { return record_; }

    /// Of the offset steps, once the jobs have run alone. Throws UserError, and std::runtime_error when T
    /// could not be measured.
    const std::vector<nanoseconds>& offsets();
    /// Of each job of the launch in this step.
    std::vector<std::optional<nanoseconds>> limits(const PlannedStep& step) const;

    /// Returns whether another step makes sense: the last one was complete, and told what it should.
    bool add(SweepStep step);

    /// The last word: file and table. Returns whether the file could be written.
    bool end(RunStatus status, const std::string& error);

private:
    void write();

    const LaunchAgreement& launch_;
    RunDirectory directory_;
    SweepRecord record_;
    std::vector<nanoseconds> offsets_;
};

} // namespace generator
