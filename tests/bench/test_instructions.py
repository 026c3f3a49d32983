"""The price of a packet, in instructions: limits.toml holds it, instructions.py counts it."""
import instructions
import pytest

ALLOWED = {"tolerance": 0.05, "instructions": {"one": 100, "many": 100},
           "services": [{"few": "one", "many": "many", "more": 2}]}


@pytest.mark.parametrize("one, many, said", [
    (100, 100, []),
    (104.9, 104.9, []),
    (95.1, 95.1, []),
    (105.1, 104, ['"one" takes 105.1 instructions a packet, +5.1% of the limit 100: find out why']),
    (94.9, 96, ['"one" takes 94.9 instructions a packet, -5.1% of the limit 100: well done']),
    (99, 101, []),
    (99, 101.1, ["the price of a packet grows with the number of services: 99.0 instructions for"]),
])
def test_what_is_wrong(one, many, said):
    wrong = instructions.judge({"one": one, "many": many}, ALLOWED)
    assert len(wrong) == len(said)
    assert all(found.startswith(sentence) for found, sentence in zip(wrong, said)), wrong


def test_renewing_writes_what_was_counted_and_leaves_the_rest(tmp_path, monkeypatch):
    if instructions.why_not():
        pytest.skip(instructions.why_not())
    copy = tmp_path / "limits.toml"
    copy.write_text(instructions.LIMITS.read_text())
    monkeypatch.setattr(instructions, "LIMITS", copy)
    before = instructions.limits()
    counted = {case: 500.4 + number for number, case in enumerate(before["instructions"])}
    instructions.renew(counted)
    after = instructions.limits()
    assert after["instructions"] == {case: round(value) for case, value in counted.items()}
    assert {key: after[key] for key in ("tolerance", "build", "services")} == \
        {key: before[key] for key in ("tolerance", "build", "services")}


def test_instructions_a_packet():
    reason = instructions.why_not()
    if reason:
        pytest.skip(reason)
    allowed = instructions.limits()
    wrong = instructions.judge(instructions.count(list(allowed["instructions"])), allowed)
    assert not wrong, "\n".join(wrong)
