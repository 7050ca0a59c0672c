// The menu of a place on the map, where it was pressed.
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { Menu, MenuItem, Popover } from 'react-aria-components';
import type { PressedPlace } from '../../map/map.ts';
import { visitMembers } from '../../state/visits/visit-view.ts';
import { pointText } from '../../state/zones/zone-draft.ts';
import { Icon } from '../icon.tsx';
import { useWords } from '../use.ts';

export function PlaceMenu({ pressed, onClose }: { readonly pressed: PressedPlace; onClose(): void }) {
  const { pages } = useWords();
  const navigate = useNavigate();
  const anchor = useRef<HTMLSpanElement>(null);
  const { point, x, y } = pressed;
  const place = pointText(point);
  const askVisits = (): void =>
    void navigate({ to: '/visits', search: { ...visitMembers({}, Date.now() / 1000), place } });
  return (
    <>
      <span ref={anchor} style={{ position: 'absolute', left: x, top: y }} />
      <Popover
        className="menu"
        aria-label={place}
        triggerRef={anchor}
        placement="bottom start"
        isOpen
        onOpenChange={onClose}
      >
        <Menu aria-label={place} autoFocus="first" onAction={askVisits} onClose={onClose}>
          <MenuItem id="visits">
            <Icon name="search" />
            {pages.visits.title}
          </MenuItem>
        </Menu>
      </Popover>
    </>
  );
}
