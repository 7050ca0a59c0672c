// Readers of drivers' keys as the far end of a serial line: an RFID reader that sends by itself, and a DS2480B line driver with an iButton probe, written
// from its data sheet.
import { crc8 } from '../../../agent/core/crc8.ts';

/** A frame of an RFID reader; ID-12LA ends it with CR and LF. @param id ten hex digits. */
export function rfidFrame(id: string, kind: 'rdm6300' | 'id12la' = 'rdm6300'): Buffer {
  const sum = Buffer.from(id, 'hex').reduce((xor, byte) => xor ^ byte, 0);
  const digits = `${id}${sum.toString(16).padStart(2, '0').toUpperCase()}`;
  return Buffer.from(`\x02${digits}${kind === 'id12la' ? '\r\n' : ''}\x03`, 'latin1');
}

/** The ROM of an iButton: family, serial number from its lowest byte on, CRC. @param serial twelve hex digits, highest first. */
export function romOf(serial: string, family = 0x01): readonly number[] {
  const bytes = [family, ...Buffer.from(serial, 'hex').toReversed()];
  return [...bytes, crc8(bytes)];
}

/** The id of a ROM as the agent names it. */
export const idOfRom = (rom: readonly number[]): string =>
  Buffer.from(rom.toReversed()).toString('hex').toUpperCase();

/** A DS2480B after power-up. */
export function createLineDriver(send: (bytes: readonly number[]) => void) {
  let isCalibrated = false;
  let isDataMode = false;
  /** An E3 in data mode is data if another one follows. */
  let isLeaving = false;
  /** Bits of the ROM that are still to be read; null: READ ROM was not given since the last reset. */
  let reading: number[] | null = null;
  let roms: readonly (readonly number[])[] = [];
  let isShorted = false;
  let isDead = false;
  const commands: number[] = [];

  const resetBus = (): void => {
    reading = null;
    if (isShorted) return send([0xcc]);
    send([roms.length > 0 ? 0xcd : 0xcf]);
  };
  const touch = (byte: number): void => {
    if (byte === 0x33) {
      // Devices that answer at once pull the line down together.
      reading =
        roms[0] === undefined
          ? null
          : roms[0].map((_, n) => roms.reduce((bits, rom) => bits & (rom[n] ?? 0xff), 0xff));
      return send([byte]);
    }
    send([byte === 0xff ? (reading?.shift() ?? 0xff) : byte]);
  };
  const take = (byte: number): void => {
    commands.push(byte);
    if (!isCalibrated) {
      isCalibrated = true;
      return;
    }
    if (isDataMode && isLeaving) {
      isLeaving = false;
      if (byte === 0xe3) return touch(byte);
      isDataMode = false;
    } else if (isDataMode && byte === 0xe3) {
      isLeaving = true;
      return;
    }
    if (isDataMode) return touch(byte);
    if (byte === 0xe1) isDataMode = true;
    else if ((byte & 0xe3) === 0xc1) resetBus();
  };
  return {
    receive(bytes: Iterable<number>): void {
      if (!isDead) for (const byte of bytes) take(byte);
    },
    /** What is held to the probe. */
    hold(...held: readonly (readonly number[])[]): void {
      roms = held;
    },
    short(is: boolean): void {
      isShorted = is;
    },
    /** Its supply fails, or comes back. */
    power(isOn: boolean): void {
      isDead = !isOn;
      isCalibrated = false;
      isDataMode = false;
      isLeaving = false;
    },
    commands,
  };
}
