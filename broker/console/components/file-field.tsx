// A button that asks for a file of this computer, with the name of the chosen one beside it.
import { Button, FileTrigger } from 'react-aria-components';
import { Icon } from './icon.tsx';

interface FileFieldProps {
  /** Words of the button. */
  readonly text: string;
  /** Media types and endings that are offered. */
  readonly types: readonly string[];
  /** Name of the chosen file; undefined: none. */
  readonly name: string | undefined;
  onChoose(file: File | undefined): void;
}

export function FileField({ text, types, name, onChoose }: FileFieldProps) {
  return (
    <div className="row wrap">
      <FileTrigger acceptedFileTypes={[...types]} onSelect={(list) => onChoose(list?.[0])}>
        <Button className="button secondary">
          <Icon name="upload" />
          {text}…
        </Button>
      </FileTrigger>
      {name === undefined ? null : <bdi>{name}</bdi>}
    </div>
  );
}
