// Mails with reports in Spanish.
import type { MailWords } from './en.ts';

export const mailWords: MailWords = {
  locale: 'es',
  test: 'Prueba',
  account: 'Cuenta',
  period: 'Período',
  vehicles: 'Vehículos',
  rows: 'Filas',
  read: 'Leído',
  total: 'Total',
  colon: ': ',
  allOf: (owner, count) => `todos los que ve ${owner} (${count})`,
  empty: 'El informe no tiene filas',
  further: (count) => `y ${count} filas más`,
  attached: (file) => `Adjunto: ${file}. Las horas del archivo son UTC`,
  tooManyRows: (most) =>
    `El informe tiene más de ${most} filas. No se adjunta ni tiene totales, porque solo se leyó una parte`,
  tooLarge: (mebibytes) => `El archivo supera los ${mebibytes} MiB, por lo que no se adjunta`,
  atUrl: (url) => `Lea el informe completo en la consola: ${url}`,
  atPage: 'Lea el informe completo en la página «Informes» de la consola',
  shorter: 'Para un archivo más pequeño elija un período más corto o menos vehículos',
  why: (owner, schedule, account) =>
    `Recibe este correo por el informe programado ${schedule} de ${owner} en la cuenta ${account}. Para terminarlo, pida a esa persona o a un administrador de la cuenta que lo borre`,
};
