// Restore commands requested in this tab: their final state as a toast, on any other screen than that of the vehicle.
import { useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useValue } from '../../components/use.ts';
import { useCommand } from '../../service/orders.ts';
import { type Restore, restores } from '../../service/restore.ts';
import { say } from './toast-queue.ts';

function Watch({ deviceID, restore }: { readonly deviceID: string; readonly restore: Restore }) {
  const { data: record } = useCommand(restore.state === 'asked' ? restore.commandID : null);
  const { deviceID: opened } = useParams({ strict: false });
  const { vehicle: selected } = useSearch({ strict: false });
  const isOpen = (opened ?? selected) === deviceID;
  const isSaid = useRef(false);
  const hasEnded = restore.state === 'failed' || record?.hasEnded === true;
  const isRestored = restore.state !== 'failed' && record?.commandState === 'confirmed';
  useEffect(() => {
    if (!hasEnded || isSaid.current) return;
    isSaid.current = true;
    // Its screen says it.
    if (!isOpen) say({ kind: 'restore', deviceID, isRestored });
  }, [hasEnded, isRestored, isOpen, deviceID]);
  return null;
}

export function RestoreWatch() {
  const all = useValue(restores);
  return [...all].map(([deviceID, restore]) => (
    <Watch
      key={`${deviceID} ${restore.state === 'asked' ? restore.commandID : restore.state}`}
      deviceID={deviceID}
      restore={restore}
    />
  ));
}
