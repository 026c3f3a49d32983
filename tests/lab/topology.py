"""Topology: the machines of a lab and how they are wired.

    client --1500-- router --1500-- director(wan)
                      |                  director(lan)
                      |                      |
                      +------ 1600, one LAN -+---- b1  b2  (b4)
                                             |
                                             +---- r2 --1600-- b3

The router leads the service addresses to the director's wan port; the backends answer the client directly, through
the router. b3 stands behind a router of its own, so that one backend is never on the director's own link.
"""
from namespaces import Namespaces

CLIENT_V4, CLIENT_V6 = "198.51.100.10", "2001:db8:c::10"
SILENT_CLIENT_V4 = "198.51.100.200"  # answers to it vanish in the router: a source for probes
DIRECTOR_V4, DIRECTOR_V6 = "10.20.0.2", "fd00:20::2"
SERVICE_PREFIX_V4, SERVICE_PREFIX_V6 = "203.0.113.0/24", "2001:db8:5::/64"
SERVICES = {  # by the family of the service and of its backends
    "v4v4": "203.0.113.10",
    "v4v6": "203.0.113.20",
    "v6v4": "2001:db8:5::10",
    "v6v6": "2001:db8:5::20",
}
BACKENDS = {
    "b1": ("10.20.0.11", "fd00:20::11"),
    "b2": ("10.20.0.12", "fd00:20::12"),
    "b3": ("10.30.0.13", "fd00:30::13"),
    "b4": ("10.20.0.14", "fd00:20::14"),
}
BEHIND_R2 = ("b3",)
MTU_OUTSIDE, MTU_INSIDE = 1500, 1600


def build(net: Namespaces):
    net.add("client", "router", "director", "r2")
    router(net)
    director(net)
    client(net)
    second_router(net)
    for name in ("b1", "b2", "b3"):
        add_backend(net, name)


def router(net):
    net.sysctl("router", **{"net.ipv4.ip_forward": 1, "net.ipv6.conf.all.forwarding": 1,
                            "net.ipv4.conf.all.rp_filter": 0, "net.ipv4.conf.default.rp_filter": 0,
                            "net.ipv4.conf.all.send_redirects": 0, "net.ipv4.conf.default.send_redirects": 0})
    net.ip("router", f"""
        link add dc type bridge
        link set dc address 02:00:00:00:dc:01 mtu {MTU_INSIDE} up
        address add 10.20.0.1/24 dev dc
        address add fd00:20::1/64 dev dc nodad
        route add 10.30.0.0/24 via 10.20.0.254
        route add fd00:30::/64 via fd00:20::254
        route add blackhole {SILENT_CLIENT_V4}/32
    """)


def on_the_lan(net, role, interface):
    """A cable from `interface` of `role` to the LAN."""
    net.ip("router", f"""
        link add to-{role} mtu {MTU_INSIDE} type veth peer name {interface} mtu {MTU_INSIDE} netns:{role}
        link set to-{role} master dc up
    """)
    plain_frames(net, "router", f"to-{role}")
    plain_frames(net, role, interface)


def plain_frames(net, role, interface):
    """Frames as on a real wire: whole checksums, no super-packets (veth would hand over unfinished ones)."""
    net.run(role, ["ethtool", "-K", interface, "tx", "off", "tso", "off", "gso", "off", "gro", "off"])


def director(net):
    # The director's kernel must not forward what DPDK forwards: ip_forward stays 0.
    net.ip("router", f"""
        link add to-wan mtu {MTU_OUTSIDE} type veth peer name wan mtu {MTU_OUTSIDE} netns:director
        address add 10.10.0.1/24 dev to-wan
        address add fd00:10::1/64 dev to-wan nodad
        link set to-wan up
        route add {SERVICE_PREFIX_V4} via 10.10.0.2
        route add {SERVICE_PREFIX_V6} via fd00:10::2
    """)
    on_the_lan(net, "director", "lan")
    net.ip("director", f"""
        address add 10.10.0.2/24 dev wan
        address add fd00:10::2/64 dev wan nodad
        address add {DIRECTOR_V4}/24 dev lan
        address add {DIRECTOR_V6}/64 dev lan nodad
        link set wan up
        link set lan up
        route add default via 10.10.0.1
        route add default via fd00:10::1
        route add 10.30.0.0/24 via 10.20.0.254
        route add fd00:30::/64 via fd00:20::254
    """)
    plain_frames(net, "router", "to-wan")
    plain_frames(net, "director", "wan")


def client(net):
    net.ip("router", f"""
        link add to-client mtu {MTU_OUTSIDE} type veth peer name eth0 mtu {MTU_OUTSIDE} netns:client
        address add 198.51.100.1/24 dev to-client
        address add 2001:db8:c::1/64 dev to-client nodad
        link set to-client up
    """)
    net.ip("client", f"""
        address add {CLIENT_V4}/24 dev eth0
        address add {CLIENT_V6}/64 dev eth0 nodad
        link set eth0 up
        route add default via 198.51.100.1
        route add default via 2001:db8:c::1
    """)
    plain_frames(net, "router", "to-client")
    plain_frames(net, "client", "eth0")


def second_router(net):
    net.sysctl("r2", **{"net.ipv4.ip_forward": 1, "net.ipv6.conf.all.forwarding": 1,
                        "net.ipv4.conf.all.rp_filter": 0, "net.ipv4.conf.default.rp_filter": 0,
                        "net.ipv4.conf.all.send_redirects": 0, "net.ipv4.conf.default.send_redirects": 0})
    on_the_lan(net, "r2", "up0")
    net.ip("r2", """
        address add 10.20.0.254/24 dev up0
        address add fd00:20::254/64 dev up0 nodad
        link set up0 up
        route add default via 10.20.0.1
        route add default via fd00:20::1
    """)


def add_backend(net, name):
    v4, v6 = BACKENDS[name]
    net.add(name)
    # The service addresses lie on lo: taken, never announced (arp_ignore, arp_announce).
    net.sysctl(name, **{"net.ipv4.conf.all.arp_ignore": 1, "net.ipv4.conf.all.arp_announce": 2,
                        "net.ipv4.conf.all.rp_filter": 0, "net.ipv4.conf.default.rp_filter": 0,
                        "net.core.somaxconn": 4096})
    if name in BEHIND_R2:
        net.ip("r2", f"""
            link add to-{name} mtu {MTU_INSIDE} type veth peer name eth0 mtu {MTU_INSIDE} netns:{name}
            address add 10.30.0.1/24 dev to-{name}
            address add fd00:30::1/64 dev to-{name} nodad
            link set to-{name} up
        """)
        plain_frames(net, "r2", f"to-{name}")
        plain_frames(net, name, "eth0")
        gateway_v4, gateway_v6 = "10.30.0.1", "fd00:30::1"
    else:
        on_the_lan(net, name, "eth0")
        gateway_v4, gateway_v6 = "10.20.0.1", "fd00:20::1"
    addresses = "".join(
        f"address add {address}/{128 if ':' in address else 32} dev lo {'nodad' if ':' in address else ''}\n"
        for address in SERVICES.values())
    net.ip(name, f"""
        address add {v4}/24 dev eth0
        address add {v6}/64 dev eth0 nodad
        link set eth0 up
        route add default via {gateway_v4}
        route add default via {gateway_v6}
        {addresses}
    """)
