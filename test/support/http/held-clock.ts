// Stops the clock of a service, for tests whose subject is a rate or a limit in seconds: however long the machine takes, the only time that
// passes is what the test advances.
import type { HttpService } from './http-fixtures.ts';

/** Stops it; `service.advance` still moves it. @returns lets it go on from where it stands. */
export function holdClock(service: HttpService): () => void {
  const { clock } = service.api;
  const { utcMs, monoMs } = clock;
  const { advance } = service;
  let heldMs = 0;
  const [utcHeldMs, monoHeldMs] = [clock.utcMs(), clock.monoMs()];
  clock.utcMs = () => utcHeldMs + heldMs;
  clock.monoMs = () => monoHeldMs + heldMs;
  service.advance = (ms) => {
    heldMs += ms;
    advance(ms);
  };
  return () => {
    Object.assign(clock, { utcMs, monoMs });
    service.advance = advance;
  };
}
