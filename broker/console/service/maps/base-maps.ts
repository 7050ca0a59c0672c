// Which map this computer shows below the vehicles.
import { type BaseMapChoice, choiceText, parseChoice } from '../../state/base-map.ts';
import { createValue } from '../../state/value.ts';

const key = 'fleetward.base-map';

export const baseMapChoice = createValue<BaseMapChoice>(parseChoice(localStorage.getItem(key)));

export function chooseBaseMap(choice: BaseMapChoice): void {
  localStorage.setItem(key, choiceText(choice));
  baseMapChoice.set(choice);
}
