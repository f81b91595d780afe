// Who and what the provider knows: the same people and clients as the realm of
// deploy/dev/keycloak.

export const audience = 'urn:hooklog';

export const people = {
  wanda: { password: "wanda's password", roles: ['webhook-writer', 'webhook-reader'] },
  rita: { password: "rita's password", roles: ['webhook-reader'] },
  admin: { password: "admin's password", roles: [] },
};

const grants = { grant_types: ['password', 'refresh_token'], response_types: [], redirect_uris: [] };

export const clients = [
  { ...grants, client_id: 'hooklog-cli', token_endpoint_auth_method: 'none' },
  { ...grants, client_id: 'hooklog-service', client_secret: 'a secret: of the service' },
  { ...grants, client_id: 'elsewhere', token_endpoint_auth_method: 'none' },
];

// audienceOf is the service that a client's tokens are for.
export const audienceOf = (client) => (client.clientId === 'elsewhere' ? 'urn:elsewhere' : audience);
