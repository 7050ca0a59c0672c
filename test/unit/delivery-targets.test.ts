// What users may make the service call: public addresses only, judged as bytes, whatever the spelling.
import { describe, expect, it } from 'vitest';
import {
  faultOfEndpoint,
  faultOfWebhook,
  hostOf,
  mailboxesOf,
} from '../../broker/core/notifications/delivery-targets.ts';
import { digestMail } from '../../broker/core/notifications/digest.ts';
import { type Notice, pushBody, webhookBody } from '../../broker/core/notifications/notice.ts';
import { mailOf } from '../../broker/core/notifications/notice-mail.ts';
import { isAddress, isPublicAddress } from '../../broker/core/notifications/public-address.ts';

describe('an address is public', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '11.0.0.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:830::200e',
    '2001:4860:4860::8888',
    '2400:cb00::1',
  ])('as %s is', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ['this network', '0.0.0.0'],
    ['this network', '0.255.255.255'],
    ['private', '10.0.0.1'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['private', '192.168.1.1'],
    ['shared (CGNAT)', '100.64.0.1'],
    ['shared (CGNAT)', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local, metadata of clouds', '169.254.169.254'],
    ['protocol assignments', '192.0.0.170'],
    ['documentation', '192.0.2.1'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['6to4 relay', '192.88.99.1'],
    ['benchmark', '198.18.0.1'],
    ['benchmark', '198.19.255.255'],
    ['multicast', '224.0.0.1'],
    ['multicast', '239.255.255.255'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['loopback', '0:0:0:0:0:0:0:1'],
    ['mapped', '::ffff:127.0.0.1'],
    ['mapped', '::ffff:8.8.8.8'],
    ['mapped in hexadecimal', '::ffff:7f00:1'],
    ['mapped, written out', '0:0:0:0:0:ffff:a9fe:a9fe'],
    ['compatible', '::8.8.8.8'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64', '64:ff9b::8.8.8.8'],
    ['local NAT64', '64:ff9b:1::1'],
    ['discard', '100::1'],
    ['Teredo', '2001::1'],
    ['ORCHID', '2001:20::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['6to4', '2002:7f00:1::'],
    ['segment routing', '5f00::1'],
    ['unique local', 'fc00::1'],
    ['unique local, metadata of clouds', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
  ])('but not as %s: %s', (_what, address) => {
    expect(isAddress(address)).toBe(true);
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    '',
    'localhost',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '0x7f.0.0.1',
    '2130706433',
    '1::2::3',
    ':::',
    '12345::',
    'fe80::1%eth0',
    '2606::1.2.3',
    '2606:4700:4700:0:0:0:0:1111:1',
  ])('and not as %j, which is none', (text) => {
    expect([isAddress(text), isPublicAddress(text)]).toEqual([false, false]);
  });
});

const rules = { allowsPrivate: false, pushHosts: ['fcm.googleapis.com', '*.push.apple.com'] };

describe('a webhook', () => {
  it('may be any https URL that names no private host', () => {
    for (const url of [
      'https://hooks.example.com/a?b=c',
      'https://1.1.1.1/',
      'https://[2606:4700::1]:8443/x',
    ]) {
      expect([url, faultOfWebhook(url, rules)]).toEqual([url, null]);
    }
  });

  it.each([
    'http://hooks.example.com',
    'ftp://hooks.example.com',
    'file:///etc/passwd',
    'https://user:secret@hooks.example.com',
    'https://127.0.0.1',
    'https://127.1',
    'https://0x7f000001',
    'https://2130706433',
    'https://0177.0.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://１２７.0.0.1',
    'https://localhost',
    'https://localhost.',
    'https://db.internal',
    'https://printer.local',
    'hooks.example.com',
    '',
    `https://hooks.example.com/${'x'.repeat(2048)}`,
  ])('may not be %s', (url) => {
    expect(faultOfWebhook(url, rules)).not.toBeNull();
  });

  it('may be a private address where the operator allows it', () => {
    expect(faultOfWebhook('http://127.0.0.1:8080/x', { ...rules, allowsPrivate: true })).toBeNull();
  });

  it('shows its host and nothing else', () => {
    expect(hostOf('https://hooks.example.com:8443/secret?token=1')).toBe('hooks.example.com:8443');
  });
});

it('a push endpoint is at a push service that is known', () => {
  const faults = (endpoint: string) => faultOfEndpoint(endpoint, rules);
  expect(faults('https://fcm.googleapis.com/fcm/send/x')).toBeNull();
  expect(faults('https://api.push.apple.com/x')).toBeNull();
  for (const endpoint of [
    'https://push.apple.com/x',
    'https://evilpush.apple.com.example.com/x',
    'https://xfcm.googleapis.com/x',
    'http://fcm.googleapis.com/x',
    'https://fcm.googleapis.com@evil.example.com/x',
  ]) {
    expect([endpoint, faults(endpoint)]).not.toEqual([endpoint, null]);
  }
});

it('a mailbox is one plain address', () => {
  expect(mailboxesOf('a@example.com, b.c+d@sub.example.com,a@example.com')).toEqual([
    'a@example.com',
    'b.c+d@sub.example.com',
  ]);
  for (const bad of [
    'a',
    '@b',
    'a@',
    'a b@c.d',
    '"a"@b.c',
    'a@b.c\r\nBcc: x@y.z',
    'A <a@b.c>',
    'a@b..c',
    'a@-b.c',
  ]) {
    expect([bad, mailboxesOf(bad)]).toEqual([bad, []]);
  }
});

const english = { language: 'en', timeZone: 'UTC' } as const;

describe('a notice', () => {
  const notice: Notice = {
    notificationNo: 1,
    accountID: 'acme',
    deviceID: 'truck-17',
    deviceName: 'Truck\r\nBcc: x@y.z\u2028\u202e<b>',
    ruleID: 'r1',
    statusCode: 63553,
    timestampMs: Date.UTC(2026, 10, 21, 9, 5, 7),
    receivedMs: Date.UTC(2026, 10, 21, 9, 30, 0),
    latitude: 43.651069,
    longitude: -79.347016,
    geozoneID: 'depot',
    commandID: null,
    commandState: null,
    isLate: true,
    topic: null,
    kind: null,
    objectID: '',
    endsMs: null,
    userID: '',
    alarmNo: null,
    escalation: 0,
  };

  it('is plain text by mail, with a subject of one line', () => {
    const { subject, text } = mailOf(notice, english);
    expect(subject).toBe('[late] Panic: Truck Bcc: x@y.z <b>');
    expect(text).toContain('Happened: 2026-11-21 09:05:07 UTC\n');
    expect(text).toContain('Position: 43.65107, -79.34702\n');
    expect(text).toContain('(late)');
  });

  it('is written in the language of its rule and by the clock of its account', () => {
    const german = { language: 'de', timeZone: 'Europe/Berlin' } as const;
    expect(mailOf({ ...notice, deviceName: 'LKW 17', escalation: 1 }, german)).toEqual({
      subject: '[nicht übernommen] [verspätet] Notruf: LKW 17',
      text: [
        'Notruf bei LKW 17',
        '',
        'Gerät:     truck-17',
        'Ereignis:  Notruf (63553)',
        'Geschehen: 2026-11-21 10:05:07 Europe/Berlin',
        'Empfangen: 2026-11-21 10:30:00 Europe/Berlin (verspätet)',
        'Position:  43.65107, -79.34702',
        'Alarm:     noch von niemandem übernommen',
        'Zone:      depot',
        '',
        'Sie erhalten diese Mail durch die Regel r1 des Kontos acme.',
        '',
      ].join('\n'),
    });
    expect(mailOf({ ...notice, kind: 'device_offline', statusCode: 0 }, german).subject).toContain(
      'Gerät offline',
    );
    const digest = {
      digestNo: 7,
      kinds: [{ statusCode: 63553, count: 3 }],
      devices: 2,
      fromMs: notice.timestampMs,
      toMs: notice.receivedMs,
      ruleIDs: ['r1', 'r2'],
      newest: [notice],
    };
    const { subject, text } = digestMail(digest, german, 'https://fleet.example.com/');
    expect(subject).toBe('[verspätet] 3 Ereignisse von 2 Fahrzeugen');
    expect(text).toContain('Alle: https://fleet.example.com/inbox\n');
    expect(text).toContain('durch die Regeln r1, r2 des Kontos acme');
  });

  it('shows UTC for a time zone that the platform does not know', () => {
    const { text } = mailOf(notice, { language: 'en', timeZone: 'Mars/Olympus' });
    expect(text).toContain('Happened: 2026-11-21 09:05:07 UTC\n');
  });

  it('is whole for machines, and without a position for lock screens', () => {
    expect(JSON.parse(webhookBody(notice))).toMatchObject({
      late: true,
      latitude: 43.651069,
      statusCode: 63553,
    });
    expect(JSON.parse(pushBody(notice))).not.toHaveProperty('latitude');
  });

  it('of an occurrence contains its subject and when it ends', () => {
    const { subject, text } = mailOf(
      {
        ...notice,
        statusCode: 0,
        kind: 'certificate_expiring',
        objectID: '0a1b\r\nBcc: x@y.z',
        endsMs: Date.UTC(2026, 11, 1),
      },
      english,
    );
    expect(subject).toBe('Certificate expires soon: Truck Bcc: x@y.z <b>');
    expect(text).toContain('Serial:   0a1b Bcc: x@y.z\n');
    expect(text).toContain('Ends:     2026-12-01 00:00:00 UTC\n');
    expect(text).not.toContain('(0)');
    const body = JSON.parse(webhookBody({ ...notice, kind: 'device_offline', statusCode: 0 }));
    expect(body).toMatchObject({
      kind: 'device_offline',
      statusDescription: 'Device offline',
      objectID: '',
      ends: 0,
    });
    expect(JSON.parse(webhookBody(notice))).toMatchObject({ kind: 'event' });
    expect(JSON.parse(pushBody({ ...notice, kind: 'clone_suspected', statusCode: 0 }))).toMatchObject({
      urgent: false,
    });
  });

  it('fits a push message whatever the device is called', () => {
    for (const letter of ['x', '\u0001', '😀', '\ud800', '"']) {
      const body = pushBody({ ...notice, deviceName: letter.repeat(5000), deviceID: 'x'.repeat(64) });
      expect(new TextEncoder().encode(body).length).toBeLessThan(3900);
    }
  });
});
