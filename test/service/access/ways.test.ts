import assert from 'node:assert/strict';
import { areas } from '../../../src/http/areas.ts';
import { audience, browser, type Issuer, startIssuer } from '../../support/issuer.ts';
import { ok } from '../../support/people.ts';
import { type Answer, basic } from '../../support/service.ts';
import { describeSlapd, groupEntry, personEntry, searcher } from '../../support/slapd.ts';
import { useService } from '../../support/useService.ts';

/** Groups of the platform, and a person of each at every provider. */
const kinds = { admin: ['admins'], operator: ['operators'], reader: ['readers'], nobody: [] };
const names = Object.keys(kinds) as (keyof typeof kinds)[];
const uidOf = (kind: string) => `uid=ldap ${kind},ou=people,dc=example`;
const entries = () =>
  names.flatMap((kind) => [personEntry(`ldap ${kind}`), groupEntry(`group of ${kind}`, [uidOf(kind)])]).join('');

const paths = areas.flatMap(({ prefix, routes }) =>
  routes
    .filter(({ method, path, access, answer }) => {
      const isStream = 'contentMediaType' in answer && answer.contentMediaType === 'text/event-stream';
      return method === 'get' && !path.includes(':') && access !== 'open' && !isStream;
    })
    .map(({ path }) => `${prefix}${path}`),
);

describeSlapd('ways to log in', entries, (directory) => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1,localhost' });
  let issuer: Issuer;
  const password = 'password of a local account';
  const by = (Authorization: string) => (path: string) => service.ask('GET', path, undefined, { Authorization }, null);
  const tokenOf = async (Authorization: string): Promise<string> => {
    const answer = await service.ask('POST', '/authorization/tokens', { name: 'a token' }, { Authorization }, null);
    return `Bearer ${ok(answer).data.token}`;
  };

  before(async () => {
    const people = Object.fromEntries(
      names.map((kind) => [kind, { preferred_username: `oidc ${kind}`, groups: [`group of ${kind}`] }]),
    );
    issuer = await startIssuer({ service: service.url, name: 'issuer', people });
    const ldap = { urls: [directory().plain], userBase: 'ou=people,dc=example', groupBase: 'ou=groups,dc=example' };
    const providers = [
      { name: 'issuer', type: 'oidc', properties: { ...issuer.properties, apiTokens: true, audience } },
      { name: 'directory', type: 'ldap', properties: { ...ldap, ...searcher } },
    ];
    for (const provider of providers) {
      ok(await service.ask('POST', '/authorization/providers', provider));
      for (const kind of names)
        ok(
          await service.ask('POST', '/group-mappings', {
            provenance: provider.name,
            externalGroup: `group of ${kind}`,
            platformGroups: kinds[kind],
          }),
        );
    }
    for (const kind of names)
      ok(
        await service.ask('POST', '/authorization/accounts', {
          username: `local ${kind}`,
          password,
          memberOf: kinds[kind],
        }),
      );
  });
  after(() => issuer.stop());

  /** The header of each way to be this kind of person, with the words of `via`. */
  const waysOf = async (kind: keyof typeof kinds): Promise<Record<string, readonly [via: string, header: string]>> => {
    const local = basic({ user: `local ${kind}`, password });
    const ldap = basic({ user: `ldap ${kind}`, password: `password of ldap ${kind}` });
    issuer.letIn(kind);
    const user = browser();
    await user.follow(`${service.url}/authorization/oidc/issuer/login`);
    const cookie = `Bearer ${user.jarOf(service.url).get('token')}`;
    const claims = { preferred_username: `oidc ${kind}`, groups: [`group of ${kind}`] };
    return {
      'a password': ['password', local],
      'a token': ['token', await tokenOf(local)],
      'a directory': ['ldap', ldap],
      'a token of a person of a directory': ['token', await tokenOf(ldap)],
      'a browser at an issuer': ['cookie', cookie],
      'a token of a person of an issuer': ['token', await tokenOf(cookie)],
      'an access token': ['oidc', `Bearer ${await issuer.sign({ sub: kind, ...claims })}`],
    };
  };

  for (const kind of names)
    it(`give the same rights to each ${kind}, on ${paths.length} routes`, async () => {
      const ways = await waysOf(kind);
      const allowed = async (ask: (path: string) => Promise<Answer>) => {
        const answers = await Promise.all(paths.map(async (path) => [path, (await ask(path)).status] as const));
        return answers.map(([path, status]) => [path, status === 403 ? 'forbidden' : status]);
      };
      const expected = await allowed(by(ways['a password']![1]));
      const methods = ok(await by(ways['a password']![1])('/whoami')).methods;
      for (const [way, [via, header]] of Object.entries(ways)) {
        const who = ok(await by(header)('/whoami'));
        assert.deepEqual([who.via, who.methods], [via, methods], way);
        assert.deepEqual(await allowed(by(header)), expected, way);
      }
    }).timeout(60_000);
});
