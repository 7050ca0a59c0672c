// Exercises of a run with its account: each changes something as people do. It is judged by the effects on the road, at the unit
// and for other readers.

export const exerciseNames = [
  'settings',
  'zones',
  'messages',
  'webhook',
  'groups',
  'secrets',
  'approvals',
  'serviceCodes',
  'audit',
] as const;
export type ExerciseName = (typeof exerciseNames)[number];

export const exerciseTexts: Readonly<Record<ExerciseName, string>> = {
  settings: 'settings of one vehicle and of all, as the units hold them',
  zones: 'geozones that vehicles cross',
  messages: 'messages between users and drivers, both ways',
  webhook: 'a webhook of the simulator that is given every alert',
  groups: 'a user who may see one group of devices',
  secrets: 'the secret of a device that was replaced, and a device that was deleted',
  approvals: 'cuts that need a second person',
  serviceCodes: 'service codes, entered at the unit',
  audit: 'the audit log with every change and its actor',
};

/** What became of an exercise. */
export interface ExerciseResult {
  readonly name: ExerciseName;
  /** False: the run has no broker of its own, or light trackers. */
  readonly isPossible: boolean;
  /** Comparisons that were made; 0: nothing was looked at. */
  readonly looked: number;
  /** Why it was not carried out; empty otherwise. */
  readonly reason: string;
}
