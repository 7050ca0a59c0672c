"""A Modbus RTU slave for tests, by pymodbus 3.0: one unit on a serial port, controlled by JSON lines on stdin.

Commands: {"set": "input" | "coil" | "holding", "address": n, "value": v}, {"get": "coil", "address": n}.
Answers and facts on stdout: {"ready": true}, {"value": v}, {"write": "coil", "address": n, "value": v}.
Input register n holds (n * 256) + the number of the reading modulo 256: old and foreign values show.
"""
import asyncio
import json
import sys

from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
from pymodbus.server.async_io import StartAsyncSerialServer
from pymodbus.transaction import ModbusRtuFramer


def say(fact):
    sys.stdout.write(json.dumps(fact) + "\n")
    sys.stdout.flush()


class Told(ModbusSequentialDataBlock):
    """A block that tells of every write which comes over the bus."""

    def __init__(self, name, first, values):
        super().__init__(first, values)
        self.name = name
        self.is_silent = False

    def setValues(self, address, values):  # pylint: disable=invalid-name
        super().setValues(address, values)
        if self.is_silent:
            return
        for at, value in enumerate(values if isinstance(values, list) else [values]):
            say({"write": self.name, "address": address + at, "value": int(value)})


class Counting(ModbusSequentialDataBlock):
    """Registers that know their address and how often they were read."""

    readings = 0

    def getValues(self, address, count=1):  # pylint: disable=invalid-name
        self.readings += 1
        return [((address + at) << 8) | (self.readings & 255) for at in range(count)]


async def main(port):
    blocks = {
        "coil": Told("coil", 0, [0] * 8),
        "input": Told("input", 0, [0] * 8),
        "holding": Told("holding", 0x1000, [0] * 8),
    }
    unit = ModbusSlaveContext(
        di=blocks["input"], co=blocks["coil"], hr=blocks["holding"], ir=Counting(0, [0] * 64), zero_mode=True
    )
    context = ModbusServerContext(slaves={1: unit}, single=False)
    server = await StartAsyncSerialServer(
        context=context, framer=ModbusRtuFramer, port=port, baudrate=9600, ignore_missing_slaves=True, defer_start=True
    )
    await server.start()
    say({"ready": True})
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        command = json.loads(line)
        block = blocks[command.get("set") or command.get("get")]
        if "set" in command:
            block.is_silent = True
            block.setValues(command["address"], [command["value"]])
            block.is_silent = False
        say({"value": int(block.getValues(command["address"], 1)[0])})


asyncio.run(main(sys.argv[1]))
