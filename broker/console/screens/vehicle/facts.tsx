// Facts of a vehicle that the panel beside the map and the page of the vehicle both show.
import { featureNames } from '../../../../src/core/events/event.ts';
import { Age, Fact, numberText, placeText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { mayHave, relayStateOf, type Vehicle } from '../../state/fleet.ts';
import type { Words } from '../../words/word-set.ts';

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
      value={vehicle.fixS > 0 && vehicle.speed !== null ? numberText(vehicle.speed, 1) : null}
      unit={units.kmh}
      age={<Age at={vehicle.fixS} />}
    />
  );
}

/** Ignition, and the relays as read back. @param props.hasCargo shows the cargo lock too, where the unit may have one. */
export function SwitchFacts({ vehicle, hasCargo = false }: FactProps & { readonly hasCargo?: boolean }) {
  const { vehicle: words, relays, common } = useWords();
  const shown = hasCargo && mayHave(vehicle, 'cargoaccess') ? featureNames : (['enginecutoff'] as const);
  return (
    <>
      <Fact
        name={words.ignition}
        value={vehicle.ignition === null ? null : vehicle.ignition === '1' ? common.on : common.off}
        age={words.lastReport}
      />
      {shown.map((relay) => {
        const state = relayStateOf(vehicle, relay);
        const { name, states } = relays[relay];
        return (
          <Fact
            key={relay}
            name={name}
            value={state === null ? null : states[state === '1' ? 1 : 0]}
            age={words.readBack}
          />
        );
      })}
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
