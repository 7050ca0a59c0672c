"""MQTT clients at the end of narrow lines: a receive window and segments as a modem has, which loopback gives nobody, so that
what they do not read soon waits in the server. Each publishes events with QoS 1 at a steady rate, whatever comes back, and
reads as its mode says: 0 nothing, n bytes a second, or null all. Who is dropped comes back after a second.
Standard input: one line of JSON, {port, perS, clients: [{topic, greeting, subscription (hex), readPerS}]}; its end ends this.
Standard output: `ready`, and at the end {sent, dropped} as JSON."""
import json
import os
import select
import socket
import sys
import threading
import time

WINDOW_BYTES = 4096
SEGMENT_BYTES = 536
STEP_S = 0.05

wish = json.loads(sys.stdin.readline())
over = threading.Event()
tally = {'sent': 0, 'dropped': 0}
lock = threading.Lock()


def count(what):
    with lock:
        tally[what] += 1


def packet(topic, number):
    event = {'seq': number, 'timestamp': 1767614400 + number, 'statusCode': 61472, 'latitude': 43.65, 'longitude': -79.38}
    payload = json.dumps({'boot': f'n{os.getpid()}', 'events': [event]}, separators=(',', ':')).encode()
    name = topic.encode()
    body = len(name).to_bytes(2, 'big') + name + (number % 65535 + 1).to_bytes(2, 'big') + payload
    length = bytes([len(body)]) if len(body) < 128 else bytes([len(body) % 128 | 0x80, len(body) // 128])
    return b'\x32' + length + body


def enter(client):
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, WINDOW_BYTES)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT_BYTES)
    line.settimeout(20)
    line.connect(('127.0.0.1', wish['port']))
    line.sendall(bytes.fromhex(client['greeting']))
    if line.recv(4) != b'\x20\x02\x00\x00':
        raise ConnectionError('not let in')
    line.sendall(bytes.fromhex(client['subscription']))
    line.recv(16)
    line.setblocking(False)
    return line


def send(line, rest, client, numbers):
    """Writes what is due; gives what the line did not take."""
    for _ in range(max(1, round(wish['perS'] * STEP_S))):
        if rest == b'':
            rest = packet(client['topic'], next(numbers))
            count('sent')
        try:
            rest = rest[line.send(rest):]
        except BlockingIOError:
            break
    return rest


def read(line, most):
    while most > 0 and select.select([line], [], [], 0)[0]:
        bytes_read = line.recv(min(most, 65536))
        if bytes_read == b'':
            raise ConnectionError('ended')
        most -= len(bytes_read)


def live(client, numbers):
    most = 1 << 30 if client['readPerS'] is None else round(client['readPerS'] * STEP_S)
    line = enter(client)
    rest = b''
    while not over.is_set():
        rest = send(line, rest, client, numbers)
        read(line, most)
        over.wait(STEP_S)
    line.close()


def keep_alive(client):
    numbers = iter(range(client['first'], 1 << 40))
    while not over.is_set():
        try:
            live(client, numbers)
        except OSError:
            count('dropped')
            over.wait(1)


threads = [
    threading.Thread(target=keep_alive, args=({**client, 'first': at * (1 << 30)},))
    for at, client in enumerate(wish['clients'])
]
for thread in threads:
    thread.start()
print('ready', flush=True)
sys.stdin.read()
over.set()
for thread in threads:
    thread.join()
print(json.dumps(tally), flush=True)
