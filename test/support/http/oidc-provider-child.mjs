// A real OpenID Connect provider on this machine for tests: `oidc-provider` with its own login page, which takes any password.
// Prints its issuer when it listens. Arguments: redirect URL of the one client, its secret, people as JSON (login -> claims).
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

// The provider wants Node 22; this is all that Node 20 lacks of it.
URL.parse ??= (text, base) => (URL.canParse(text, base) ? new URL(text, base) : null);

const [redirectUrl, clientSecret, peopleText] = process.argv.slice(2);
const people = JSON.parse(peopleText);

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'fleet',
        client_secret: clientSecret,
        redirect_uris: [redirectUrl],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_basic',
      },
    ],
    // As most providers do: claims stand in the ID token.
    conformIdTokenClaims: false,
    claims: { profile: ['name', 'preferred_username', 'realm_access'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...(Object.hasOwn(people, id) ? people[id] : {}) }),
    }),
    cookies: { keys: ['only for tests'] },
    ttl: {
      AuthorizationCode: 60,
      AccessToken: 300,
      IdToken: 300,
      Interaction: 300,
      Session: 300,
      Grant: 300,
    },
  });
  server.on('request', provider.callback());
  process.stdout.write(`${issuer}\n`);
});
