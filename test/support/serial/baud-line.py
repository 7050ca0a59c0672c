"""A serial line with a speed: a pty whose far end hears the near end only while that has set the right baud rate, and noise
else, as on a real UART. (Linux clears parity on a pty.) Bytes on standard input and output are the far end.
Usage: baud-line.py LINK BAUD"""
import os
import select
import sys
import termios
import tty

link, baud = sys.argv[1], getattr(termios, 'B' + sys.argv[2])
master, slave = os.openpty()
tty.setraw(slave)
if os.path.lexists(link):
    os.remove(link)
os.symlink(os.ttyname(slave), link)


def fits():
    return termios.tcgetattr(slave)[5] == baud


try:
    while True:
        ready, _, _ = select.select([master, 0], [], [])
        if master in ready:
            data = os.read(master, 4096)
            if fits():
                os.write(1, data)
        if 0 in ready:
            data = os.read(0, 4096)
            if not data:
                break
            os.write(master, data if fits() else bytes(byte ^ 0x5A for byte in data[: len(data) // 2]))
finally:
    os.remove(link)
