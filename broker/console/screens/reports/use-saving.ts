// Saves the records of vehicles as files, one after the other, with how far it is; it can be cancelled.
import { useEffect, useRef, useState } from 'react';
import { type ExportFormat, saveTrack } from '../../service/track.ts';
import type { Period } from '../../state/reports/report-view.ts';

/** Files of one press. */
export const filesMost = 20;

export type Saving =
  | { readonly state: 'none' }
  | { readonly state: 'cancelled' }
  | {
      readonly state: 'saving';
      readonly deviceID: string;
      /** From 1. */
      readonly file: number;
      readonly files: number;
      /** Of this file. */
      readonly bytes: number;
    }
  | { readonly state: 'saved'; readonly files: number }
  | { readonly state: 'failed'; readonly deviceID: string; readonly error: unknown };

export function useSaving() {
  const [saving, setSaving] = useState<Saving>({ state: 'none' });
  const under = useRef<AbortController | null>(null);
  // A screen that is left saves nothing more.
  useEffect(() => () => under.current?.abort(), []);
  const begin = async (deviceIDs: readonly string[], period: Period, format: ExportFormat): Promise<void> => {
    if (under.current !== null) return;
    const controller = new AbortController();
    under.current = controller;
    const { signal } = controller;
    let deviceID = '';
    try {
      for (const [at, one] of deviceIDs.entries()) {
        deviceID = one;
        const of = { state: 'saving', deviceID, file: at + 1, files: deviceIDs.length } as const;
        setSaving({ ...of, bytes: 0 });
        const onReceived = (bytes: number): void => setSaving({ ...of, bytes });
        await saveTrack({ deviceID, ...period }, format, { signal, onReceived });
      }
      setSaving({ state: 'saved', files: deviceIDs.length });
    } catch (error) {
      setSaving(signal.aborted ? { state: 'cancelled' } : { state: 'failed', deviceID, error });
    } finally {
      under.current = null;
    }
  };
  return { saving, begin, cancel: (): void => under.current?.abort() };
}
