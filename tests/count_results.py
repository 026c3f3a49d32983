#!/usr/bin/python3
"""Adds up junit files: names what failed and why something was skipped, then one line with the totals.

Ends with 1 when anything failed or nothing ran at all.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

PLACE = re.compile(r"\S+:\d+")


def outcome_of(case):
    for tag in ("failure", "error", "skipped"):
        found = case.find(tag)
        if found is not None:
            return ("failed" if tag != "skipped" else "skipped"), (found.get("message") or found.text or "").strip()
    return "passed", ""


def reason_of(words):
    """The first line that says something: gtest puts the place into a line of its own before it."""
    lines = words.splitlines()
    if len(lines) > 1 and PLACE.fullmatch(lines[0]):
        lines = lines[1:]
    return lines[0][:160] if lines else ""


def main(folder):
    totals = collections.Counter()
    skipped = collections.Counter()
    for path in sorted(pathlib.Path(folder).glob("*.xml")):
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except ElementTree.ParseError as error:
            totals["failed"] += 1
            print(f"FAILED {path.name}: unreadable results: {error}")
            continue
        for case in cases:
            outcome, words = outcome_of(case)
            totals[outcome] += 1
            first = reason_of(words)
            if outcome == "failed":
                print(f"FAILED {path.stem}: {case.get('classname')}.{case.get('name')}: {first}")
            elif outcome == "skipped":
                skipped[first or "no reason given"] += 1
    for words, count in sorted(skipped.items()):
        print(f"skipped {count}: {words}")
    line = f"{totals['passed']} passed, {totals['failed']} failed"
    if totals["skipped"]:
        line += f", {totals['skipped']} skipped"
    print(line)
    return 1 if totals["failed"] or not totals["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
