"""A client made of single packets: what no kernel would send at that moment, from an address that nobody answers for."""
import struct
import time

from machines import PORT, SERVICE, SILENT
from stand_in import tcp_packet

FIN, SYN, RST, ACK = 1, 2, 4, 16


class Answers:
    """TCP packets from the service address that the client's wire carries."""

    def __init__(self, rig):
        self.tap = rig.client_tap()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tap.close()

    def next(self, port, seconds=2):
        """(flags, sequence, acknowledged, data) of the next one to this port; None when there is none."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.tap.settimeout(left)
            try:
                frame = self.tap.recv(2048)
            except TimeoutError:
                return None
            v6 = frame[12:14] == b"\x86\xdd"
            length = 40 + struct.unpack("!H", frame[18:20])[0] if v6 else struct.unpack("!H", frame[16:18])[0]
            packet = frame[14:14 + length]
            protocol, l4 = (packet[6], packet[40:]) if v6 else (packet[9], packet[20:])
            if protocol != 6 or struct.unpack("!HH", l4[:4]) != (PORT, port):
                continue
            sequence, acknowledged, offset, flags = struct.unpack("!IIBB", l4[4:14])
            return flags, sequence, acknowledged, l4[(offset >> 4) * 4:]
        return None


def silent_packet(inner, port, flags, sequence, acknowledged=0, data=b""):
    return tcp_packet(SILENT[inner], SERVICE[inner], port, PORT, flags, sequence, acknowledged, data)
