// What the operator of the service sees of it, read on demand. Types only.
import type { ServiceFacts } from '../core/operating/service-facts.ts';

export interface ServiceStatus {
  /** Never rejects for a database that does not answer: what comes from it then stays as it was, with its time. */
  read(): Promise<ServiceFacts>;
}
