// A component that is loaded when it is first shown. Where it cannot be loaded nothing is shown in its place, and the notice of the shell says so.
import { type ComponentType, lazy } from 'react';
import { PartNotLoaded } from '../state/parts.ts';

const Nothing = (): null => null;

/** @param load by `withWords` or `loadPart`. */
export const lazyPart = <P extends object>(load: () => Promise<ComponentType<P>>) =>
  lazy(async (): Promise<{ readonly default: ComponentType<P> }> => {
    try {
      return { default: await load() };
    } catch (thrown) {
      if (thrown instanceof PartNotLoaded) return { default: Nothing };
      throw thrown;
    }
  });
