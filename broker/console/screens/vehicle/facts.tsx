// Facts of a vehicle that the panel beside the map and the page of the vehicle both show.
import { Age, Fact, numberText, placeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import type { Vehicle } from '../../state/fleet.ts';
import type { Words } from '../../words/en.ts';

interface FactProps {
  readonly vehicle: Vehicle;
}

/** Where the vehicle is: its address, else `zone` where there is one, else the coordinates of its last fix. */
export function positionText({ address, place }: Vehicle, { vehicle: words }: Words, zone = ''): string {
  if (address !== '') return address;
  if (zone !== '') return zone;
  return place === null ? words.noPosition : placeText(place[1], place[0]);
}

export function SpeedFact({ vehicle, isBig = false }: FactProps & { readonly isBig?: boolean }) {
  const { vehicle: words, units } = useWords();
  return (
    <Fact
      isBig={isBig}
      name={words.speed}
      value={vehicle.fixS > 0 ? numberText(vehicle.speed, 1) : null}
      unit={units.kmh}
      age={<Age at={vehicle.fixS} />}
    />
  );
}

/** Ignition, and the engine cut-off as read back. */
export function SwitchFacts({ vehicle }: FactProps) {
  const { vehicle: words, common } = useWords();
  return (
    <>
      <Fact
        name={words.ignition}
        value={vehicle.ignition === null ? null : vehicle.ignition === '1' ? common.on : common.off}
        age={words.lastReport}
      />
      <Fact
        name={words.relay}
        value={vehicle.cutoff === null ? null : vehicle.cutoff === '1' ? words.cut : words.notCut}
        age={words.readBack}
      />
    </>
  );
}

export function FuelFact({ vehicle }: FactProps) {
  const { vehicle: words, units } = useWords();
  return (
    <Fact
      name={words.fuel}
      value={vehicle.fuel === null ? words.noFuel : numberText(vehicle.fuel * 100)}
      {...(vehicle.fuel === null ? {} : { unit: units.percent })}
    />
  );
}
