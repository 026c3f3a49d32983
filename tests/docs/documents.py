"""Documents: what the Markdown files say, as data.

What: a file's tables by the heading they stand under, and its code blocks by the words behind the fence.
Why:  what a document says of the program is compared with the program, in both directions.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]

HEADING = re.compile(r"#+ (.*)")
FENCE = re.compile(r"^```([a-z ]+)\n(.*?)^```", re.M | re.S)


def read(name):
    return (ROOT / name).read_text()


def tables(text):
    """Heading -> its tables, each a list of rows, each a dictionary by column."""
    out, heading, rows = {}, "", []
    for line in text.splitlines() + [""]:
        if found := HEADING.fullmatch(line):
            heading = found.group(1)
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            head, _, *body = rows
            out.setdefault(heading, []).append([dict(zip(head, row, strict=True)) for row in body])
            rows = []
    return out


def code_blocks(text):
    """(words behind the fence, code), in order."""
    return FENCE.findall(text)


def quoted(cell):
    """What stands in backquotes in a cell."""
    return re.findall(r"`([^`]+)`", cell)
