// Whether single keys are shortcuts on this computer (WCAG 2.1.4).
import { createValue } from '../state/value.ts';

const key = 'fleetward.single-keys';

export const singleKeys = createValue(localStorage.getItem(key) !== 'off');

export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(key, isOn ? 'on' : 'off');
  singleKeys.set(isOn);
}
