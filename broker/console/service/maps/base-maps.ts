// Which map this computer shows below the vehicles.
import { type BaseMapChoice, choiceText, parseChoice } from '../../state/base-map.ts';
import { createValue } from '../../state/value.ts';

const key = 'fleetward.base-map';

const stored = localStorage.getItem(key);

/** Null: this computer has chosen none, and shows what the account has chosen. */
export const baseMapChoice = createValue<BaseMapChoice | null>(stored === null ? null : parseChoice(stored));

export function chooseBaseMap(choice: BaseMapChoice): void {
  localStorage.setItem(key, choiceText(choice));
  baseMapChoice.set(choice);
}
