"""Routing contract 1 once more, in plain Python, written from the design alone.

A second reading of the contract: slow, without one trick, and sharing no code with libguideway. Members are
lists of [name, weight]; a seating is a dict of name lists, None where there is nobody.
"""
import ipaddress
from fractions import Fraction
from math import lcm

import xxhash

MASK = (1 << 64) - 1


def xxh3(data, seed):
    return xxhash.xxh3_64_intdigest(data, seed=seed & MASK)


# 1, 2: flow key, flow hash, row

def flow_key(question, source_port):
    return (ipaddress.ip_address(question["source"]).packed + ipaddress.ip_address(question["destination"]).packed
            + source_port.to_bytes(2, "big") + question["destination_port"].to_bytes(2, "big")
            + bytes([question["protocol"]]))


# 3: the deal

def quotas(members, row_count):
    total = sum(weight for _, weight in members)
    if not members:
        return []
    quota = [row_count * weight // total for _, weight in members]
    by_remainder = sorted(range(len(members)), key=lambda i: (-(row_count * members[i][1] % total), i))
    for i in by_remainder[:row_count - sum(quota)]:
        quota[i] += 1
    return quota


def preference(name, seed, row_count):
    offset = xxh3(name.encode(), seed + 1) % row_count
    skip = 1 + xxh3(name.encode(), seed + 2) % (row_count - 1)
    return [(offset + j * skip) % row_count for j in range(row_count)]


def empty_seating(seed, row_count):
    return {"seed": seed, "rows": row_count, "members": [], "holder": [None] * row_count,
            "former": [None] * row_count}


def first_hop(seating, row, takes_new):
    for name in [seating["holder"][row], seating["former"][row]]:
        if name in takes_new:
            return name
    if not takes_new:
        return None
    return next(name for name in ranking(seating["members"], seating["seed"], row) if name in takes_new)


def deal(before, states, members, mode):
    members = sorted(members, key=lambda member: member[0].encode())
    if members == before["members"]:
        return before
    seed, row_count = before["seed"], before["rows"]
    names = [name for name, _ in members]
    weight = dict(members)
    quota = dict(zip(names, quotas(members, row_count)))
    order = {name: preference(name, seed, row_count) for name in names}
    holder = list(before["holder"])
    active = {name for name, _ in before["members"] if states.get(name, "active") == "active"}
    held = {name: 0 for name in names}

    # a: rows of leavers are free, and those above a quota
    left = []
    if mode == "scratch":
        holder = [None] * row_count
    else:
        for row in range(row_count):
            if holder[row] is not None and holder[row] not in quota:
                left.append(row)
                holder[row] = None
        for name in names:
            own = [row for row in order[name] if holder[row] == name]
            for row in own[quota[name]:]:
                holder[row] = None
            held[name] = min(len(own), quota[name])

    def below(name):
        return name in quota and held[name] < quota[name]

    # b: rows of leavers go to whom their flows know
    for row in left:
        for name in [first_hop(before, row, active), before["former"][row]]:
            if below(name):
                holder[row] = name
                held[name] += 1
                break

    # c: Maglev's turns, round by round
    taking = [name for name in names if below(name)]
    top = max((weight[name] for name in taking), default=0)
    credit = {name: 0 for name in taking}
    walk = {name: iter(order[name]) for name in taking}
    while any(below(name) for name in taking):
        for name in taking:
            if not below(name):
                continue
            credit[name] += weight[name]
            if credit[name] >= top:
                credit[name] -= top
                holder[next(row for row in walk[name] if holder[row] is None)] = name
                held[name] += 1

    # d: the formers
    former = list(before["former"])
    for row in range(row_count):
        was_former = former[row]
        if holder[row] != before["holder"][row]:
            former[row] = next((name for name in [first_hop(before, row, active), was_former]
                                if name in quota and name != holder[row]), None)
        elif was_former not in quota:
            former[row] = None
    return {"seed": seed, "rows": row_count, "members": members, "holder": holder, "former": former}


# 4: the ranking

def mix(x):
    x ^= x >> 33
    x = x * 0xff51afd7ed558ccd & MASK
    x ^= x >> 33
    x = x * 0xc4ceb9fe1a85ec53 & MASK
    return x ^ x >> 33


def log2_floor(numerator, denominator, digits=32, bits=256):
    """floor(2^digits * log2(numerator/denominator)) for a quotient in [1, 2), by squaring an interval."""
    low = (numerator << bits) // denominator
    high = -((-numerator << bits) // denominator)
    out = 0
    for _ in range(digits):
        low = low * low >> bits
        high = -(-high * high >> bits)
        digit = low >> bits + 1
        assert digit == high >> bits + 1, "more bits are needed to tell"
        if digit:
            low, high = low >> 1, -(-high >> 1)
        out = out << 1 | digit
    return out


LOG2 = [log2_floor(1024 + i, 1024) for i in range(1024)] + [1 << 32]


def draw(name, seed, row):
    return mix(xxh3(name.encode(), seed + 3) ^ mix(row))


def distance(u):
    x = u | 1
    e = x.bit_length() - 1
    m = x << (63 - e)
    i = (m >> 53) & 1023
    f = (m >> 21) & 0xffffffff
    return (1 << 38) - ((e << 32) + LOG2[i] + ((LOG2[i + 1] - LOG2[i]) * f >> 32))


def ranking(members, seed, row):
    common = lcm(*(weight for _, weight in members))  # L/w in whole numbers

    def key(member):
        u = draw(member[0], seed, row)
        return distance(u) * (common // member[1]), -u, member[0].encode()
    return [name for name, _ in sorted(members, key=key)]


# 5, 6: who takes new flows, the hops of a row

def takes_new_flows(members, status, panic, none_healthy):
    active = {name: weight for name, weight in members if status[name][0] == "active"}
    healthy = {name: weight for name, weight in active.items() if status[name][1] != "down"}
    enough = Fraction(str(panic)) * sum(active.values())
    if sum(healthy.values()) > 0 and sum(healthy.values()) >= enough:
        return set(healthy)
    return set(active) if none_healthy == "all" else set()


def hops_of_row(seating, row, status, takes_new, hops):
    first = first_hop(seating, row, takes_new)
    named = [first, seating["holder"][row], seating["former"][row]]
    able = [name for name in ranking(seating["members"], seating["seed"], row) if status[name][0] != "disabled"]
    named += [name for name in able if name not in named][:1]
    out = []
    for name in named:
        if name in able and name not in out:
            out.append(name)
    out.sort(key=lambda name: name != first and status[name][1] == "down")
    return out[:hops], first is not None


def rows_digest(rows):
    padded = [name for row in rows for name in (row + [None] * 3)[:3]]
    return xxh3(b"".join((0 if name is None else xxh3(name.encode(), 0)).to_bytes(8, "little") for name in padded), 0)


# The questions of the vectors

def play_deals(question):
    seating = empty_seating(int(question["seed"], 16), question["rows"])
    for step in question["deals"]:
        seating = deal(seating, step["states_before"], step["members"], step["mode"])
        yield seating


def hexadecimal(value):
    return f"0x{value:016x}"


def indices(seating, key, digest_only):
    index = {name: i for i, (name, _) in enumerate(seating["members"])}
    listed = [index.get(name, -1) for name in seating[key]]
    if digest_only:
        return hexadecimal(xxh3(b"".join((i & 0xffff).to_bytes(2, "little") for i in listed), 0))
    return listed


def answer_flow(question):
    seed = int(question["seed"], 16)
    key = flow_key(question, question["source_port"])
    row_hash = xxh3(flow_key(question, 0) if question["affinity"] == "client" else key, seed)
    return {"key": key.hex(), "flow_hash": hexadecimal(xxh3(key, seed)), "row_hash": hexadecimal(row_hash),
            "row": row_hash % question["rows"]}


def answer_log2(_):
    return {"table": LOG2}


def answer_deal(question):
    digest_only = question.get("digest_only", False)
    return {"deals": [{"quota": quotas(seating["members"], seating["rows"]),
                       "holder": indices(seating, "holder", digest_only),
                       "former": indices(seating, "former", digest_only)} for seating in play_deals(question)]}


def answer_ranking(question):
    seed = int(question["seed"], 16)
    rankings = []
    for row in question["rows_asked"]:
        draws = {name: draw(name, seed, row) for name, _ in question["members"]}
        rankings.append([[name, hexadecimal(draws[name]), distance(draws[name])]
                         for name in ranking(question["members"], seed, row)])
    return {"rankings": rankings}


def answer_rows(question):
    seating = list(play_deals(question))[-1]
    status = {name: question["status"].get(name, ["active", "up"]) for name, _ in seating["members"]}

    def build(view):
        takes_new = takes_new_flows(seating["members"], view, question["panic"], question["none_healthy"])
        return [hops_of_row(seating, row, view, takes_new, question["hops"]) for row in range(seating["rows"])]

    built = build(status)
    rows = [hops for hops, _ in built]
    all_up = [hops for hops, _ in build({name: [state, "up"] for name, (state, _) in status.items()})]
    answer = {"rows_taking_new_flows": sum(takes for _, takes in built),
              "rows_digest": hexadecimal(rows_digest(rows)), "site_digest": hexadecimal(rows_digest(all_up))}
    if not question.get("digest_only", False):
        answer["rows"] = rows
    return answer


ANSWERS = {"flow": answer_flow, "log2": answer_log2, "deal": answer_deal, "ranking": answer_ranking,
           "rows": answer_rows}
