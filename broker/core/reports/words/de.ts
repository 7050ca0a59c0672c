// Mails with reports in German.
import type { MailWords } from './en.ts';

export const mailWords: MailWords = {
  locale: 'de',
  test: 'Test',
  account: 'Konto',
  period: 'Zeitraum',
  vehicles: 'Fahrzeuge',
  rows: 'Zeilen',
  read: 'Gelesen',
  total: 'Summe',
  colon: ': ',
  allOf: (owner, count) => `alle, die ${owner} sieht (${count})`,
  empty: 'Der Bericht hat keine Zeilen',
  further: (count) => `und ${count} weitere Zeilen`,
  attached: (file) => `Angehängt: ${file}. Zeiten in der Datei sind UTC`,
  tooManyRows: (most) =>
    `Der Bericht hat mehr als ${most} Zeilen. Er ist nicht angehängt und hat keine Summen, weil nur ein Teil gelesen wurde`,
  tooLarge: (mebibytes) => `Die Datei ist größer als ${mebibytes} MiB und darum nicht angehängt`,
  atUrl: (url) => `Der ganze Bericht steht in der Konsole: ${url}`,
  atPage: 'Der ganze Bericht steht in der Konsole auf der Seite „Berichte“',
  shorter: 'Für eine kleinere Datei einen kürzeren Zeitraum oder weniger Fahrzeuge wählen',
  why: (owner, schedule, account) =>
    `Sie erhalten diese Mail durch den Berichtsversand ${schedule} von ${owner} im Konto ${account}. Wer sie nicht mehr will, wendet sich an diese Person oder an einen Administrator des Kontos`,
};
