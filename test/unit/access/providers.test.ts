import assert from 'node:assert/strict';
import type { OidcProperties } from '../../../src/domain/authorization/oidcSchemas.ts';
import type { LdapProperties, ProviderProperties } from '../../../src/domain/authorization/providerSchemas.ts';
import { create, provider, sealProperties, update } from '../../../src/domain/authorization/providers.ts';
import { fold } from '../../../src/domain/engine/core.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { mask } from '../../../src/domain/engine/secretFields.ts';
import { context } from '../../support/given.ts';

const directory: LdapProperties = { urls: ['ldaps://directory.example.net'], userBase: 'dc=example' };
const seal = (secret: string) => ({ $sealed: `sealed ${secret}`, tag: secret });
const issuer: OidcProperties = {
  issuer: 'https://issuer.example.net',
  clientId: 'platform',
  redirectUri: 'https://here.example.net/authorization/oidc/corp/callback',
};
const madeOf = (type: 'ldap' | 'oidc', properties: ProviderProperties) => {
  const input = { name: 'corp', type, properties };
  const refs = { properties: () => sealProperties({}, input.properties, seal), accounts: 0 };
  return create({}, input, { ...context, refs });
};
const made = (properties: Partial<LdapProperties>) => madeOf('ldap', { ...directory, ...properties });

describe('authentication providers', () => {
  const faults: readonly (readonly [string, object])[] = [
    ['/properties/urls/0', { urls: ['ldap://directory.example.net'] }],
    ['/properties/urls/1', { urls: ['ldap://localhost', 'ldap://127.0.0.1.example.net'] }],
    ['/properties/urls/0', { urls: ['ldap://localhost.example.net:389'] }],
    ['/properties/urls/0', { startTls: true }],
    ['/properties/bindPassword', { bindDn: 'cn=x' }],
    ['/properties/bindDn', { bindPassword: 'x' }],
    ['/properties/userFilter', { userFilter: '(uid=anna)' }],
    ['/properties/userFilter', { userFilter: '(&(uid={{username}})' }],
    ['/properties/userFilter', { userFilter: '(uid={{username}})(cn=x)' }],
    ['/properties/groupFilter', { groupFilter: '(objectClass=group)' }],
  ];
  const faultsOfIssuers: typeof faults = [
    ['/properties/issuer', { issuer: 'http://issuer.example.net' }],
    ['/properties/issuer', { issuer: 'http://localhost.example.net' }],
    ['/properties/issuer', { issuer: `${issuer.issuer}/.well-known/openid-configuration` }],
    ['/properties/redirectUri', { redirectUri: issuer.redirectUri.replace('https:', 'http:') }],
    ['/properties/redirectUri', { redirectUri: issuer.redirectUri.replace('corp', 'other') }],
  ];
  const all = [
    ...faults.map(([path, more]) => [path, 'ldap', { ...directory, ...more }] as const),
    ...faultsOfIssuers.map(([path, more]) => [path, 'oidc', { ...issuer, ...more }] as const),
    ['/properties', 'ldap', issuer] as const,
    ['/properties', 'oidc', directory] as const,
  ];
  for (const [path, type, properties] of all)
    it(`refuse ${type} with ${JSON.stringify(properties)}`, () =>
      assert.throws(
        () => madeOf(type, properties),
        (error) => error instanceof RequestError && error.faults[0]?.path === path,
      ));

  it('take TLS of any server, and loopback without', () => {
    for (const urls of [
      ['ldap://localhost:389'],
      ['ldap://127.0.0.1'],
      ['ldap://[::1]:3890'],
      ['ldaps://a', 'ldaps://b:636'],
    ])
      assert.equal(made({ urls }).length, 1);
    assert.equal(made({ urls: ['ldap://directory.example.net'], startTls: true }).length, 1);
    assert.equal(madeOf('oidc', { ...issuer, issuer: 'http://[::1]:3900' }).length, 1);
  });

  it('keep a masked secret only while the servers stay the same', () => {
    const state = fold(provider, made({ bindDn: 'cn=x', bindPassword: 'secret' }));
    const again = { ...directory, bindDn: 'cn=y', bindPassword: mask };
    const kept = sealProperties(state, again, seal);
    assert.deepEqual(kept.bindPassword, seal('secret'));
    const refs = { properties: () => kept, accounts: 0 };
    assert.equal(update(state, { properties: again }, { ...context, refs }).length, 1);
    for (const elsewhere of [{ urls: ['ldaps://a'] }, { startTls: true }, { ca: '-----BEGIN CERTIFICATE-----' }])
      assert.throws(() => sealProperties(state, { ...again, ...elsewhere }, seal), RequestError);
  });
});
