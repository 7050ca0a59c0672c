// Forms and dialogs in Spanish.
import type { FormTexts } from './en.ts';

export const formTexts: FormTexts = {
  forms: {
    failed: 'No se hizo',
    copy: 'Copiar',
    copied: 'Copiado',
    copyOf: (name) => `Copiar: ${name}`,
    once: 'Solo se muestra esta vez. El servicio no guarda nada que se pueda leer',
    saved: 'Guardado',
    change: 'Guardar los cambios',
    unchanged: 'Aún no se cambió nada',
    idHint: 'De 1 a 64 letras, cifras, _ o -. Después no se puede cambiar',
    idWrong: 'Use de 1 a 64 caracteres entre A-Z, a-z, 0-9, _ y -',
  },
};
