import assert from 'node:assert/strict';
import { same } from '../../../src/domain/engine/changes.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import {
  mask,
  maskSecrets,
  mostSecrets,
  openSecrets,
  sealImported,
  sealSecrets,
} from '../../../src/domain/engine/secretFields.ts';
import { secrets } from '../../../src/secrets/secrets.ts';

describe('secrets within documents', () => {
  const { seal, unseal } = secrets({ key: Buffer.alloc(32, 'k') });
  const given = {
    host: 'a',
    password: 'hunter2',
    'Private-Key': 'PEM',
    list: [{ community: 'public' }],
    auth: { user: 'x' },
    token: null,
  };

  it('are sealed by the names of their members, however deep', () => {
    const stored = sealSecrets(given, undefined, seal);
    assert.doesNotMatch(JSON.stringify(stored), /hunter2|PEM|public|"user"/);
    assert.deepEqual(maskSecrets(stored), {
      host: 'a',
      password: mask,
      'Private-Key': mask,
      list: [{ community: mask }],
      auth: mask,
      token: null,
    });
    assert.deepEqual(openSecrets(stored, unseal), { ...given, auth: '{"user":"x"}' });
  });

  it('are not opened where an import has left only the mask', () => {
    const stored = sealImported({ user: mask, list: [mask] }, [], seal);
    const isRefusal = (error: unknown) => error instanceof RequestError && error.code === 'unprocessable';
    assert.throws(() => openSecrets({ user: mask, login: sealImported({ password: mask }, [], seal) }, unseal), {
      message: 'The secret at /login/password is missing: only its mask is stored. Set it again',
    });
    assert.throws(() => openSecrets({ token: mask }, unseal), isRefusal);
    assert.deepEqual(openSecrets(stored, unseal), stored);
  });

  it('stay the very ones stored when they are sent again, in clear or as the mask', () => {
    const stored = sealSecrets(given, undefined, seal);
    assert.ok(same(sealSecrets(given, stored, seal), stored));
    assert.ok(same(sealSecrets({ ...given, password: mask, list: [{ community: mask }] }, stored, seal), stored));
    assert.ok(!same(sealSecrets({ ...given, password: 'other' }, stored, seal), stored));
  });

  it('of an import are the first that are stored in their place', () => {
    const stored = (password: string) => sealSecrets({ password }, undefined, seal);
    const [first, second] = [stored('first'), stored('second')];
    for (const none of [undefined, {}, { password: null }])
      assert.ok(same(sealImported({ password: mask }, [none, first, second], seal), first));
  });

  it('cannot be kept where none is stored', () => {
    assert.throws(
      () => sealSecrets({ list: [{ key: mask }] }, {}, seal, '/properties'),
      (error) =>
        error instanceof RequestError && error.code === 'invalid' && error.faults[0]?.path === '/properties/list/0/key',
    );
  });

  it('are no more than can be sealed without holding up others', () => {
    const some = (length: number) => ({ list: Array.from({ length }, (_, key) => ({ key })) });
    assert.ok(sealSecrets(some(mostSecrets), {}, seal));
    assert.throws(
      () => sealSecrets(some(mostSecrets + 1), {}, seal, '/variables'),
      (error) =>
        error instanceof RequestError &&
        error.code === 'invalid' &&
        error.faults[0]?.path === `/variables/list/${mostSecrets}/key`,
    );
  });

  it('are known by what their names end with', () => {
    for (const name of [
      'apiKey',
      'api_key',
      'clientSecret',
      'accessToken',
      'enable_password',
      'snmp-community',
      'SSH_PRIVATE_KEY',
      'Authorization',
    ])
      assert.deepEqual(maskSecrets(sealSecrets({ [name]: 'x' }, undefined, seal)), { [name]: mask }, name);
    for (const name of ['bgp_community', 'sortKey', 'public_key', 'tokens', 'passwordPolicy', 'author', 'monkey'])
      assert.deepEqual(sealSecrets({ [name]: 'x' }, undefined, seal), { [name]: 'x' }, name);
  });
});
