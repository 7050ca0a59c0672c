// Mails with reports in English, the reference: the other languages have the same members.

export const mailWords = {
  locale: 'en',
  test: 'Test',
  account: 'Account',
  period: 'Period',
  vehicles: 'Vehicles',
  rows: 'Rows',
  read: 'Read',
  total: 'Total',
  colon: ': ',
  allOf: (owner: string, count: string) => `all that ${owner} sees (${count})`,
  empty: 'The report has no rows',
  further: (count: string) => `and ${count} further rows`,
  attached: (file: string) => `Attached: ${file}. Times in the file are UTC`,
  tooManyRows: (most: string) =>
    `The report has more than ${most} rows. It is not attached, and there are no totals, because only a part of it was read`,
  tooLarge: (mebibytes: string) => `The file is larger than ${mebibytes} MiB, so it is not attached`,
  atUrl: (url: string) => `Read the whole report in the console: ${url}`,
  atPage: 'Read the whole report on the page "Reports" of the console',
  shorter: 'For a smaller file choose a shorter period or fewer vehicles',
  why: (owner: string, schedule: string, account: string) =>
    `You get this mail by the report schedule ${schedule} of ${owner} in the account ${account}. To end it, ask that person or an administrator of the account`,
};

export type MailWords = typeof mailWords;
