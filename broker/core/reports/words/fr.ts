// Mails with reports in French.
import type { MailWords } from './en.ts';

export const mailWords: MailWords = {
  locale: 'fr',
  test: 'Essai',
  account: 'Compte',
  period: 'Période',
  vehicles: 'Véhicules',
  rows: 'Lignes',
  read: 'Lu le',
  total: 'Total',
  colon: ' : ',
  allOf: (owner, count) => `tous ceux que voit ${owner} (${count})`,
  empty: 'Le rapport n’a aucune ligne',
  further: (count) => `et ${count} autres lignes`,
  attached: (file) => `Pièce jointe : ${file}. Les heures du fichier sont en UTC`,
  tooManyRows: (most) =>
    `Le rapport a plus de ${most} lignes. Il n’est pas joint et n’a pas de totaux, car une partie seulement a été lue`,
  tooLarge: (mebibytes) => `Le fichier dépasse ${mebibytes} Mio et n’est donc pas joint`,
  atUrl: (url) => `Lire le rapport entier dans la console : ${url}`,
  atPage: 'Lire le rapport entier à la page « Rapports » de la console',
  shorter: 'Pour un fichier plus petit, choisir une période plus courte ou moins de véhicules',
  why: (owner, schedule, account) =>
    `Vous recevez ce message par le rapport programmé ${schedule} de ${owner} dans le compte ${account}. Pour y mettre fin, adressez-vous à cette personne ou à un administrateur du compte`,
};
