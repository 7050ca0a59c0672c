// Releases as the screen has them, and the draft of a new one. Pure.
import type { Body, Result } from '../../api/operations.ts';
import type { Phase } from './release-address.ts';

export type ListedRelease = Result<'getReleases'>['releases'][number];
export type Release = Result<'getRelease'>['release'];
export type Stage = Release['stages'][number];
export type ReleaseUnit = Result<'getReleaseUnits'>['units'][number];
/** Texts as typed; `stages` are group ids in the order in which they were chosen. */
export interface ReleaseDraft {
  readonly version: string;
  readonly url: string;
  readonly sha256: string;
  readonly stages: readonly string[];
  readonly stopAfter: string;
  readonly days: string;
  readonly note: string;
}

export const noRelease: ReleaseDraft = {
  version: '',
  url: '',
  sha256: '',
  stages: [],
  stopAfter: '1',
  days: '7',
  note: '',
};

export const releaseMost = {
  version: 64,
  url: 1000,
  sha256: 64,
  stopAfter: 5000,
  days: 30,
  note: 200,
} as const;

type File = Pick<ReleaseDraft, 'version' | 'url' | 'sha256'>;
export type DraftMember = keyof ReleaseDraft;

const isNumber = (text: string, most: number): boolean =>
  /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= most;

/** With the port written out, as the service compares them. */
const withPort = (host: string): string => (host.includes(':') ? host : `${host}:443`);

/** True for an https address at one of the hosts. */
function isAt(text: string, hosts: readonly string[]): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, username, hash } = new URL(text);
  const isPlain = username === '' && hash === '' && !text.includes('#');
  return protocol === 'https:' && isPlain && hosts.map(withPort).includes(withPort(host));
}

/** Members of a file that cannot be sent as they are. */
export function fileFaults(file: File, hosts: readonly string[]): ReadonlySet<DraftMember> {
  const faults = new Set<DraftMember>();
  if (!/^[A-Za-z0-9][A-Za-z0-9.+~_-]{0,63}$/.test(file.version)) faults.add('version');
  if (!isAt(file.url, hosts)) faults.add('url');
  if (!/^[0-9a-f]{64}$/.test(file.sha256)) faults.add('sha256');
  return faults;
}

/** Members that cannot be sent as they are. */
export function draftFaults(draft: ReleaseDraft, hosts: readonly string[]): ReadonlySet<DraftMember> {
  const faults = new Set(fileFaults(draft, hosts));
  if (draft.stages.length === 0 || draft.stages.length > 20) faults.add('stages');
  if (!isNumber(draft.stopAfter, releaseMost.stopAfter)) faults.add('stopAfter');
  if (!isNumber(draft.days, releaseMost.days)) faults.add('days');
  return faults;
}

/** What the draft sends. */
export function releaseBody(draft: ReleaseDraft): Body<'createRelease'> {
  const { version, url, sha256, stages, note } = draft;
  const ttl = Number(draft.days) * 86_400;
  return { version, url, sha256, stages: [...stages], ttl, stopAfter: Number(draft.stopAfter), note };
}

/** The order of choice, with those at its end that were ticked last. */
export const inOrder = (before: readonly string[], ticked: readonly string[]): readonly string[] => [
  ...before.filter((one) => ticked.includes(one)),
  ...ticked.filter((one) => !before.includes(one)),
];

/** The stage that may begin; null: none is left, or the release has ended. */
export const nextStage = ({ releaseState, stages }: Release): Stage | null =>
  releaseState === 'ready' || releaseState === 'running'
    ? (stages.find(({ started }) => started === 0) ?? null)
    : null;

export const mayStop = ({ releaseState }: Pick<ListedRelease, 'releaseState'>): boolean =>
  releaseState === 'ready' || releaseState === 'running';

/** Something may change without a press. */
export const isMoving = ({ releaseState }: Pick<ListedRelease, 'releaseState'>): boolean =>
  releaseState === 'running' || releaseState === 'stopping';

/** Sum of one figure over all stages. */
export const sumOf = ({ stages }: Release, figure: Phase | 'units'): number =>
  stages.reduce((sum, stage) => sum + stage[figure], 0);
