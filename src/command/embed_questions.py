"""Turns the files of tests/vectors into a source file with their questions, without what they expect."""
import json
import pathlib
import sys

OUTPUT, *FILES = map(pathlib.Path, sys.argv[1:])


def questions(path):
    vectors = json.loads(path.read_text())
    for case in vectors["cases"]:
        del case["expect"]
    return vectors["kind"], json.dumps(vectors, ensure_ascii=False)


def main():
    lines = ['#include "command/golden_vectors.h"', "#include <array>", "namespace guideway {",
             "std::span<const VectorQuestions> vector_questions() {", "  static constexpr std::array all{"]
    for path in sorted(FILES):
        kind, text = questions(path)
        lines.append(f'    VectorQuestions{{"{kind}", R"questions({text})questions"}},')
    lines += ["  };", "  return all;", "}", "}  // namespace guideway", ""]
    OUTPUT.write_text("\n".join(lines))


main()
