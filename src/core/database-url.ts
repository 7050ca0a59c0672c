// The address of the store: a SQLite file, or a PostgreSQL database named by a URL. A URL may hold a password, so
// every output of it goes through here; the result must never hold one.

/** Query parameters of a PostgreSQL URL that hold a secret. */
const secretParameters = ['password', 'sslpassword'];

/** True for `postgres://...` and `postgresql://...`; everything else is a file. */
export function isPostgresUrl(database: string): boolean {
  return /^postgres(ql)?:\/\//i.test(database);
}

/** The same without its password, for messages and logs; a file path is unchanged. Never throws. */
export function withoutPassword(database: string): string {
  if (!isPostgresUrl(database)) return database;
  // By text and not by URL: a socket's folder (`user@%2Frun%2Fpostgresql`) and a typing error must be shown too. Everything
  // up to the last @ may belong to a password that was not encoded.
  const bare = database.replace(/^([a-z]+:\/\/)(.*)@/i, (_whole, scheme: string, who: string) => {
    return `${scheme}${/^[^:/?]*/.exec(who)?.[0] ?? ''}@`;
  });
  const [shown = '', ...rest] = bare.split('?');
  const parameters = rest
    .join('?')
    .split('&')
    .filter((one) => one !== '' && !secretParameters.includes(one.split('=')[0]?.toLowerCase() ?? ''));
  return parameters.length === 0 ? shown : `${shown}?${parameters.join('&')}`;
}

/** Prefix of the names of key files: the database's file, or the service's name beside it. */
export function keyFilePrefix(database: string): string {
  return isPostgresUrl(database) ? './fleetward' : database;
}
