// A button that asks for a file of this computer, with the name of the chosen one beside it.
import { Button, FileTrigger } from 'react-aria-components';
import { Icon } from '../icon.tsx';

interface FileFieldProps {
  readonly text: string;
  /** Media types and endings that are offered. */
  readonly types: readonly string[];
  readonly chosen: { readonly name: string } | null;
  choose(file: File | undefined): Promise<void>;
}

export const FileField = ({ text, types, chosen, choose }: FileFieldProps) => (
  <div className="row wrap">
    <FileTrigger acceptedFileTypes={[...types]} onSelect={(list) => void choose(list?.[0])}>
      <Button className="button secondary">
        <Icon name="upload" />
        {text}…
      </Button>
    </FileTrigger>
    {chosen === null ? null : <bdi>{chosen.name}</bdi>}
  </div>
);
