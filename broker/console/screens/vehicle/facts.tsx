// Facts of a vehicle that the panel beside the map and the page of the vehicle both show.
import { featureNames } from '../../../../src/core/events/event.ts';
import { Age, amountOf, Fact, numberText } from '../../components/texts.tsx';
import { useWords } from '../../components/use.ts';
import { mayHave, relayStateOf, type Vehicle } from '../../state/fleet.ts';

interface FactProps {
  readonly vehicle: Vehicle;
}

export function SpeedFact({ vehicle, isBig = false }: FactProps & { readonly isBig?: boolean }) {
  const words = useWords();
  return (
    <Fact
      isBig={isBig}
      name={words.vehicle.speed}
      {...(vehicle.fixS > 0 && vehicle.speed !== null
        ? amountOf(vehicle.speed, 'kmh', words, 1)
        : { value: null })}
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
