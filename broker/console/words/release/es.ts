// That the service has another build of the console, in Spanish.
import type { ReleaseTexts } from './en.ts';

export const releaseTexts: ReleaseTexts = {
  release: {
    title: 'La consola tiene una versión nueva',
    hint: 'Esta pestaña usa todavía la anterior. Termine lo que esté escribiendo y vuelva a cargarla',
    loadAgain: 'Volver a cargar',
  },
};
