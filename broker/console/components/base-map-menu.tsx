// The choice of the base map over a map: the world, the files and the style of the service; an administrator also chooses for all.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  Button,
  Header,
  Menu,
  MenuItem,
  MenuSection,
  MenuTrigger,
  Popover,
  Text,
} from 'react-aria-components';
import { mapWords } from '../../../build/words/map.ts';
import { call } from '../service/call.ts';
import { chooseBaseMap } from '../service/maps/base-maps.ts';
import { useRole } from '../service/role.ts';
import { session } from '../service/session.ts';
import { choiceText, fileTitle, parseChoice, worldChoice } from '../state/base-map.ts';
import type { WordsWith } from '../words/word-set.ts';
import { Icon } from './icon.tsx';
import type { ShownBaseMap } from './map-tools.tsx';
import { useValue, useWords } from './use.ts';

interface Row {
  readonly key: string;
  readonly title: string;
  /** What the choice means beyond this service. */
  readonly hint?: string;
}

/** The world, the files, the style, and what was chosen although it is no longer offered. */
function rowsOf({ offer, choice }: ShownBaseMap, { baseMap }: WordsWith<[typeof mapWords]>): readonly Row[] {
  const rows: Row[] = [{ key: choiceText(worldChoice), title: baseMap.world }];
  for (const { name } of offer?.maps ?? [])
    rows.push({ key: choiceText({ kind: 'file', name }), title: fileTitle(name) });
  const style = offer?.style ?? null;
  if (style !== null) {
    const { host } = new URL(style.url);
    rows.push({
      key: choiceText({ kind: 'style' }),
      title: baseMap.style({ host }),
      hint: baseMap.hostLearns({ host }),
    });
  }
  const chosen = choiceText(choice);
  if (choice.kind === 'file' && !rows.some(({ key }) => key === chosen))
    rows.push({ key: chosen, title: fileTitle(choice.name) });
  return rows;
}

/** Sets the account's base map: users without a choice of their own see it. For administrators. */
function useForAll() {
  const queries = useQueryClient();
  const accountID = useValue(session)?.accountID ?? '';
  return useMutation({
    mutationFn: (baseMap: string) => call('updateAccount', { body: { accountID, baseMap } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['maps'] }),
  });
}

const forAll = 'all';

/** A button that opens the list of maps; nothing while there is nothing to choose from. */
export function BaseMapMenu({ shown }: { readonly shown: ShownBaseMap }) {
  const words = useWords(mapWords);
  const { baseMap } = words;
  const rows = rowsOf(shown, words);
  const role = useRole();
  const setForAll = useForAll();
  const chosen = choiceText(shown.choice);
  const isForAll = chosen === choiceText(parseChoice(shown.offer?.chosen ?? null));
  if (rows.length < 2) return null;
  return (
    <MenuTrigger>
      <Button className="button square base-map" aria-label={baseMap.choose}>
        <Icon name="layers" />
      </Button>
      <Popover className="menu" placement="bottom end">
        <Menu
          aria-label={baseMap.choose}
          selectionMode="single"
          disallowEmptySelection
          selectedKeys={[chosen]}
          onAction={(key) => {
            if (key === forAll) setForAll.mutate(chosen);
          }}
          onSelectionChange={(keys) => {
            for (const key of new Set<unknown>(keys)) chooseBaseMap(parseChoice(String(key)));
          }}
        >
          <MenuSection>
            <Header>{baseMap.choose}</Header>
            {rows.map(({ key, title, hint }) => (
              <MenuItem key={key} id={key} textValue={title}>
                <bdi>{title}</bdi>
                {hint && <Text slot="description">{hint}</Text>}
              </MenuItem>
            ))}
          </MenuSection>
          {role === 'admin' && !isForAll ? (
            <MenuSection selectionMode="none" aria-label={baseMap.forAll}>
              <MenuItem id={forAll}>{baseMap.forAll}</MenuItem>
            </MenuSection>
          ) : null}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
