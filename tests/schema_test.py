#!/usr/bin/env python3
"""An independent validator judges the profile schema: it accepts every shipped profile, and of the bad ones exactly
those that a schema cannot tell from good ones (rules between fields; tests/data/bad_profiles/messages.tsv). The schemas
of what is written, run.json and report.json, are schemas; report_test.sh validates whole runs against them.

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

LEAST_AGREED = 40  # bad profiles that both refuse


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def shipped_profiles(folder):
    return [path for path in sorted(folder.glob("*.json")) if not path.name.endswith(".schema.json")]


def main(source):
    schema = read(source / "profiles" / "profile.schema.json")
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    mistakes = []
    shipped = shipped_profiles(source / "profiles")
    for path in shipped:
        mistakes += [f"{path.name} is shipped, but: {error.message}" for error in validator.iter_errors(read(path))]
    for name in ("run", "report"):
        written = read(source / "tools" / f"{name}.schema.json")
        validator_for(written).check_schema(written)
    bad = source / "tests" / "data" / "bad_profiles"
    with open(bad / "messages.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    agreed = 0
    for row in rows:
        refused = not validator.is_valid(read(bad / row["file"]))
        if refused != (row["schema"] == "yes"):
            mistakes.append(f"{row['file']} is {'refused' if refused else 'accepted'} by the schema")
        agreed += refused
    if agreed < LEAST_AGREED:
        mistakes.append(f"both refuse only {agreed} bad profiles, fewer than {LEAST_AGREED}")
    print(f"{len(shipped)} shipped profiles; {agreed} bad ones refused by both, "
          f"{len(rows) - agreed} by gradburst alone")
    for mistake in mistakes:
        print("FAILED:", mistake)
    return 1 if mistakes else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
