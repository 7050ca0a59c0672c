// The header that names a file is one line of ASCII, whatever the name is, and programs of both kinds read the same file from it.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attachment } from '../../broker/core/file-name.ts';

const grammar =
  /^attachment; filename="([\x20\x21\x23-\x5b\x5d-\x7e]*)"; filename\*=UTF-8''([A-Za-z0-9%._~\-!#$&+^`|]*)$/;

describe('the name of a file for saving', () => {
  it('is a valid header for any name, without a path, a quote or a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const header = attachment(name);
        const [, ascii = '', encoded = ''] = grammar.exec(header) ?? ['', 'no match'];
        expect(ascii).not.toBe('no match');
        const shown = decodeURIComponent(encoded);
        for (const text of [ascii, shown]) {
          expect(text).not.toMatch(/[\p{Cc}/\\:*?"<>|]/u);
          expect(text).not.toMatch(/^\./);
          expect(text.length).toBeLessThanOrEqual(120);
        }
      }),
    );
  });

  it('keeps a plain name, and one in any script in UTF-8', () => {
    expect(attachment('truck-17_start_now.csv')).toBe(
      'attachment; filename="truck-17_start_now.csv"; filename*=UTF-8\'\'truck-17_start_now.csv',
    );
    expect(attachment('Lkw Müller.gpx')).toBe(
      'attachment; filename="Lkw M_ller.gpx"; filename*=UTF-8\'\'Lkw%20M%C3%BCller.gpx',
    );
    expect(attachment('../../etc/passwd')).toBe(
      'attachment; filename="__.._etc_passwd"; filename*=UTF-8\'\'__.._etc_passwd',
    );
  });
});
