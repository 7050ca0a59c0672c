// The vehicles of the account in the order of the list, sorted again with each change of them.
import { useMemo, useState } from 'react';
import { vehicles } from '../../service/live.ts';
import type { Vehicle } from '../../state/fleet.ts';
import { createWorstFirst } from '../../state/worst-first.ts';
import { useValue } from '../use.ts';

export function useWorstFirst(): readonly Vehicle[] {
  const fleet = useValue(vehicles);
  const [sort] = useState(createWorstFirst);
  return useMemo(() => sort(fleet), [fleet, sort]);
}
