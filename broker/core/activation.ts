// Which status codes count as alerts, in the four categories of the activation summary. The interface does not show
// the table; this choice follows OpenGTS' code groups (StatusCodes 2.6.5). It must stay data, with no condition on it.

const activationCategories = ['fuel', 'activations', 'cargo', 'base'] as const;
type ActivationCategory = (typeof activationCategories)[number];

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const codesByCategory: Readonly<Record<ActivationCategory, readonly number[]>> = {
  // Refill, theft, low, sender faulty.
  fuel: [63825, 63826, 63828, 63838],
  // Numbered and unnumbered inputs on, panic, vehicle alarm, intrusion.
  activations: [...range(62496, 62527), 62466, 63553, 63559, 63617],
  // Doors open and closed, breach, lock and unlock.
  cargo: [...range(62672, 62677), ...range(62688, 62693), 63625, 63637, 63638],
  // Zone arrival and departure, towing, tamper, power lost, battery low.
  base: [61968, 62000, 63601, 63621, 64787, 64784],
};

/** Every status code that is an alert, each once. */
export const activationCodes: readonly number[] = activationCategories.flatMap(
  (category) => codesByCategory[category],
);
