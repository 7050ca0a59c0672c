// English: what is said of an order, by the relay that it moves. No word of one relay stands in the texts of another.
import { cutReasons } from '../../../../src/core/words/reports/en.ts';
import type { Widened } from '../base/catalogue.ts';

export const orders = {
  enginecutoff: {
    noun: 'Cut',
    button: (vehicle: string) => `Cut ${vehicle} when it stands`,
    closeGoesOn: 'Close; the cut goes on',
    noFeature: 'This vehicle reports no engine cut-off',
    already: 'The engine is cut already, as read back from the vehicle',
    notFound: 'There is no such cut',
    consequence: 'The relay opens only when the ignition is off and the vehicle has proved that it stands',
    consequenceTimes: (offS: number, standS: number) =>
      `The relay opens only when the ignition has been off for ${offS} s and the vehicle has proved standing still for ${standS} s`,
    until: (time: string) =>
      `Until ${time} at the latest. Then the engine cannot be started until you restore it. Nothing happens while it drives`,
    reasons: cutReasons,
    ttlHint: '24 h is the longest',
    passwordHint: 'Your account asks for it again before a cut',
    failed: 'Not asked',
    withdraw: 'Withdraw',
    withdrawFailed: 'Not withdrawn',
    executing: 'Relay ordered open',
    says: {
      armedPlain: 'Waits on the vehicle until it is safe',
      executing: 'The relay was ordered open. It is not read back yet',
      confirmed: (time: string) => `Engine cut. The relay was read back open at ${time}`,
      refused: (vehicle: string, why: string) => `Not cut. ${vehicle} refused: ${why}`,
      refusedBy: (user: string) => `Not cut. ${user} refused; nothing was sent`,
      expired: 'Not cut. It expired before the vehicle acted',
      expiredRequest: 'Not cut. No second person approved it in time; nothing was sent',
      cancelled: 'Not cut. It was withdrawn',
    },
    hints: {
      confirmed: 'The engine cannot be started until it is restored',
      nothingRepeated: 'Nothing is repeated by itself. Ask anew if the engine must still be cut',
      unknown: 'Look at the engine cut-off as read back; restore if in doubt',
    },
    after: {
      badge: 'Restored',
      undone: (time: string) => `The engine was cut: the relay was read back open at ${time}. It is restored`,
      by: (user: string, time: string) => `Restored by ${user} at ${time}`,
      readBack: 'The relay reads closed, as read back from the vehicle',
      undoing: (user: string, time: string) =>
        `${user} asked for a restore at ${time}. The relay is not read back closed yet`,
      replaced: 'The engine is cut now by another order, as read back from the vehicle',
      step: (user: string) => `Restored by ${user}`,
    },
    relayNow: 'Engine cut-off now',
    leftAnnounce: (span: string) => `${span} left until the cut expires`,
    stale: (time: string) =>
      `What you see is as of ${time}. The vehicle decides without the console. A restore can still be asked; if the service does not answer, use the service code`,
    needMovement: 'by motion input, engine speed and supply',
    rehearse: 'Ask the vehicle: would it cut now?',
    rehearsal: 'Would it cut now?',
    would: 'Yes: the vehicle would cut now',
    safe: {
      pressAgain: 'You can press again at any time: two restores do no harm',
      asked: (vehicle: string) => `Restore of ${vehicle} asked`,
      states: {
        requested: 'It goes out as soon as the vehicle connects',
        sent: 'Sent. The vehicle has not answered yet',
        received: 'The vehicle has it',
        armed: 'The vehicle has it and waits',
        executing: 'The relay was ordered closed. It is not read back yet',
        refused: 'The vehicle refused it',
        expired: 'It expired before the vehicle acted',
        cancelled: 'It was withdrawn',
        superseded: 'A newer command replaced it',
        unknown: 'Its outcome is not known',
      },
      confirmed: (vehicle: string, time: string) =>
        `${vehicle} restored. The relay was read back closed at ${time}`,
      asking: (vehicle: string) => `Asks the service to restore ${vehicle}`,
    },
  },
  cargoaccess: {
    noun: 'Unlock',
    button: (vehicle: string) => `Unlock the cargo of ${vehicle} when it stands`,
    closeGoesOn: 'Close; the unlock goes on',
    noFeature: 'This vehicle reports no cargo lock',
    already: 'The cargo is unlocked already, as read back from the vehicle',
    notFound: 'There is no such unlock',
    consequence: 'The lock opens only when the vehicle has proved that it stands',
    consequenceTimes: (offS: number, standS: number) =>
      `The lock opens only when the ignition has been off for ${offS} s and the vehicle has proved standing still for ${standS} s`,
    until: (time: string) =>
      `Until ${time} at the latest. Then the cargo stays open for the time that is set on the vehicle, 30 s unless its installer chose otherwise, and locks by itself. Nothing happens while it drives`,
    reasons: {
      delivery: 'Delivery or pickup',
      inspection: 'Inspection by an authority',
      rescue: 'A person or goods in danger',
      driver: 'Driver asked for it',
      test: 'Test',
      other: 'Another reason',
    },
    ttlHint: '1 h is the longest. A person should be at the vehicle',
    passwordHint: 'Your account asks for it again before an unlock',
    failed: 'Not asked',
    withdraw: 'Withdraw',
    withdrawFailed: 'Not withdrawn',
    executing: 'Lock ordered open',
    says: {
      armedPlain: 'Waits on the vehicle until it is safe',
      executing: 'The lock was ordered open. It is not read back yet',
      confirmed: (time: string) => `Cargo unlocked. The lock was read back open at ${time}`,
      refused: (vehicle: string, why: string) => `Not unlocked. ${vehicle} refused: ${why}`,
      refusedBy: (user: string) => `Not unlocked. ${user} refused; nothing was sent`,
      expired: 'Not unlocked. It expired before the vehicle acted',
      expiredRequest: 'Not unlocked. No second person approved it in time; nothing was sent',
      cancelled: 'Not unlocked. It was withdrawn',
    },
    hints: {
      confirmed:
        'It locks by itself after the time that is set on the vehicle. You can lock it at any moment',
      nothingRepeated: 'Nothing is repeated by itself. Ask anew if the cargo must still be unlocked',
      unknown: 'Look at the cargo lock as read back; lock it if in doubt',
    },
    after: {
      badge: 'Locked again',
      undone: (time: string) =>
        `The cargo was unlocked: the lock was read back open at ${time}. It is locked again`,
      by: (user: string, time: string) => `Locked by ${user} at ${time}`,
      readBack: 'The lock reads shut, as read back from the vehicle',
      undoing: (user: string, time: string) =>
        `${user} asked to lock it at ${time}. The lock is not read back shut yet`,
      replaced: 'The cargo is unlocked now by another order, as read back from the vehicle',
      step: (user: string) => `Locked by ${user}`,
    },
    relayNow: 'Cargo lock now',
    leftAnnounce: (span: string) => `${span} left until the unlock expires`,
    stale: (time: string) =>
      `What you see is as of ${time}. The vehicle decides without the console, and locks by itself. Locking can still be asked`,
    needMovement: 'by motion input and vehicle bus',
    rehearse: 'Ask the vehicle: would it unlock now?',
    rehearsal: 'Would it unlock now?',
    would: 'Yes: the vehicle would unlock now',
    safe: {
      pressAgain: 'You can press again at any time: locking twice does no harm',
      asking: (vehicle: string) => `Asks the service to lock the cargo of ${vehicle}`,
      asked: (vehicle: string) => `Locking the cargo of ${vehicle} was asked`,
      states: {
        requested:
          'It goes out as soon as the vehicle connects. An open lock also closes by itself, after the time that is set',
        sent: 'Sent. The vehicle has not answered yet',
        received: 'The vehicle has it',
        armed: 'The vehicle has it and waits',
        executing: 'The lock was ordered shut. It is not read back yet',
        refused: 'The vehicle refused it',
        expired: 'It expired before the vehicle acted',
        cancelled: 'It was withdrawn',
        superseded: 'A newer command replaced it',
        unknown: 'Its outcome is not known',
      },
      confirmed: (vehicle: string, time: string) =>
        `Cargo of ${vehicle} locked. The lock was read back shut at ${time}`,
    },
  },
} as const;

export type OrdersTexts = Widened<typeof orders>;
