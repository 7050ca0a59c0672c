// Recorded inputs are found where they lie: tests that need them would else be skipped without anybody noticing.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkout } from '../support/machine/checkout.ts';
import { sharedData } from '../support/machine/shared-data.ts';

describe('the shared data', () => {
  it('lie beside the checkout, which holds the manifest of the project', () => {
    const root = fileURLToPath(checkout);
    expect(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).toMatchObject({ name: 'fleetward' });
    if ((process.env['FLEETWARD_TEST_SHARED_DATA'] ?? '') !== '') return;
    expect(sharedData('fuel') !== null).toBe(existsSync(join(root, '..', 'shared', 'data', 'fuel')));
  });
});
