// An OpenID provider on loopback, for development and tests: npm's oidc-provider
// with a password grant, JWT access tokens, and refresh tokens that work once.
// Usage: node server.js PORT FOLDER. SIGHUP makes it sign with a new key.
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Provider, errors } from 'oidc-provider';

import { audienceOf, clients, people } from './people.js';
import { openStore } from './store.js';

const [port, folder] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const keyFile = `${folder}/keys.json`;
const adapter = openStore(`${folder}/store.json`);

const readKeys = () => (existsSync(keyFile) ? JSON.parse(readFileSync(keyFile)) : []);

// addKey puts a new key first: that is the one which signs.
function addKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'ES256', use: 'sig' };
  writeFileSync(keyFile, JSON.stringify([key, ...readKeys()]), { mode: 0o600 });
}

const claimsOf = (name) => ({ preferred_username: name, groups: people[name].roles });

function open() {
  const provider = new Provider(issuer, {
    adapter,
    clients,
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    jwks: { keys: readKeys() },
    rotateRefreshToken: true,
    ttl: { AccessToken: 300, Grant: 86400, RefreshToken: 86400 },
    findAccount: (_ctx, id) => people[id] && { accountId: id, claims: () => ({ sub: id, ...claimsOf(id) }) },
    extraTokenClaims: (_ctx, token) => claimsOf(token.accountId),
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: 'webhooks', audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  });
  provider.registerGrantType('password', passwordGrant, ['username', 'password', 'scope']);
  return provider.callback();
}

async function passwordGrant(ctx) {
  const { client, params, provider } = ctx.oidc;
  const accountId = params.username;
  if (!Object.hasOwn(people, accountId) || people[accountId].password !== params.password) {
    throw new errors.InvalidGrant('the user name or the password is wrong');
  }
  const resource = audienceOf(client);
  const scope = 'openid offline_access webhooks';
  const grant = new provider.Grant({ accountId, clientId: client.clientId });
  grant.addOIDCScope(scope);
  grant.addResourceScope(resource, 'webhooks');
  const common = { accountId, client, grantId: await grant.save(), gty: 'password' };

  const access = new provider.AccessToken({ ...common, scope: 'webhooks' });
  access.resourceServer = new provider.ResourceServer(resource, {
    scope: 'webhooks', audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } },
  });
  const refresh = new provider.RefreshToken({ ...common, scope, resource, rotations: 0 });
  ctx.body = {
    access_token: await access.save(),
    token_type: 'Bearer',
    expires_in: access.expiration,
    refresh_token: await refresh.save(),
  };
}

if (readKeys().length === 0) addKey();
let handle = open();
process.on('SIGHUP', () => {
  addKey();
  handle = open();
});
createServer((request, response) => handle(request, response)).listen(Number(port), '127.0.0.1');
