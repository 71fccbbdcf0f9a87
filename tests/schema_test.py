#!/usr/bin/env python3
"""An independent validator judges the schemas of profiles and jobs files: each accepts every shipped file, and of the bad
ones exactly those that a schema cannot tell from good ones (rules between fields; tests/data/bad_*/messages.tsv). The
schemas of what is written, run.json, report.json, sweep.json and superpose.json, are schemas; report_test.sh validates whole runs against them.

usage: schema_test.py <source folder>. Exit 77 without jsonschema: the test is skipped."""
import csv
import json
import pathlib
import sys

try:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
except ImportError:
    print("SKIPPED: no python3-jsonschema; tools/setup --tests installs it")
    sys.exit(77)

# schema, shipped files, bad files, how many of these both refuse at least
KINDS = [
    ("profile.schema.json", ".", "bad_profiles", 40),
    ("jobs.schema.json", "jobs", "bad_jobs", 25),
]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def shipped_files(folder):
    return [path for path in sorted(folder.glob("*.json")) if not path.name.endswith(".schema.json")]


def mistakes_about(source, schema_name, folder, bad_folder, least_agreed):
    schema = read(source / "profiles" / schema_name)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    mistakes = []
    shipped = shipped_files(source / "profiles" / folder)
    for path in shipped:
        mistakes += [f"{path.name} is shipped, but: {error.message}" for error in validator.iter_errors(read(path))]
    bad = source / "tests" / "data" / bad_folder
    with open(bad / "messages.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    agreed = 0
    for row in rows:
        refused = not validator.is_valid(read(bad / row["file"]))
        if refused != (row["schema"] == "yes"):
            mistakes.append(f"{row['file']} is {'refused' if refused else 'accepted'} by the schema")
        agreed += refused
    if agreed < least_agreed:
        mistakes.append(f"both refuse only {agreed} files of {bad_folder}, fewer than {least_agreed}")
    print(f"{schema_name}: {len(shipped)} shipped files; {agreed} bad ones refused by both, "
          f"{len(rows) - agreed} by gradburst alone")
    return mistakes


def main(source):
    for name in ("run", "report", "sweep", "superpose"):
        written = read(source / "tools" / f"{name}.schema.json")
        validator_for(written).check_schema(written)
    mistakes = [mistake for kind in KINDS for mistake in mistakes_about(source, *kind)]
    for mistake in mistakes:
        print("FAILED:", mistake)
    return 1 if mistakes else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
