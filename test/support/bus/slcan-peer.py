"""A foreign SLCAN peer for tests: python-can's `slcanBus` on a serial port, driven by lines on stdin.

`adapter` answers the opening as a CANable does, then sends the frames that stdin names; `host` sends those of stdin and prints
what it receives. A frame is a line of JSON, `[id, isExtended, data as hexadecimal]`; so is the first line of stdout, `"ready"`.
"""

import json
import sys
import threading

import can
from can.interfaces.slcan import slcanBus

VERSION = b"8ca5d39 git@github.com:normaldotcom/canable-fw.git\r"


def answer_opening(port):
    """Reads commands until `O`, as firmware that answers to `V` only."""
    command = b""
    while True:
        byte = port.read(1)
        if byte != b"\r":
            command += byte
            continue
        if command == b"V":
            port.write(VERSION)
            port.flush()
        if command == b"O":
            return
        command = b""


def receive(bus):
    while True:
        message = bus.recv(1)
        if message is not None:
            frame = [message.arbitration_id, message.is_extended_id, message.data.hex()]
            sys.stdout.write(json.dumps(frame) + "\n")
            sys.stdout.flush()


def main(path, role):
    bus = slcanBus(path, bitrate=250000, sleep_after_open=0)
    print(json.dumps("ready"), flush=True)
    if role == "adapter":
        answer_opening(bus.serialPortOrig)
    else:
        threading.Thread(target=receive, args=(bus,), daemon=True).start()
    for line in sys.stdin:
        identifier, is_extended, data = json.loads(line)
        bus.send(can.Message(arbitration_id=identifier, is_extended_id=is_extended, data=bytes.fromhex(data)))


main(*sys.argv[1:])
