import assert from 'node:assert/strict';
import { areas } from '../../../src/http/areas.ts';
import { audience, browser, type Issuer, startIssuer } from '../../support/issuer.ts';
import { ok } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import { basic } from '../../support/service.ts';
import { describeSlapd, groupEntry, personEntry, searcher } from '../../support/slapd.ts';
import { useService } from '../../support/useService.ts';

/** Groups of the platform, and a person of each at every provider. */
const kinds = { admin: ['admins'], operator: ['operators'], reader: ['readers'], nobody: [] };
const names = Object.keys(kinds) as (keyof typeof kinds)[];
const uidOf = (kind: string) => `uid=ldap ${kind},ou=people,dc=example`;
const entries = () =>
  names.flatMap((kind) => [personEntry(`ldap ${kind}`), groupEntry(`group of ${kind}`, [uidOf(kind)])]).join('');

type Ask = { readonly method: string; readonly path: string };

const isStream = (answer: object): boolean =>
  'contentMediaType' in answer && answer.contentMediaType === 'text/event-stream';

/** Requests to the routes that look at rights: their parameters name nothing, their bodies are empty. */
const asks: readonly Ask[] = areas.flatMap(({ prefix, routes }) =>
  routes
    .filter(({ access, answer }) => access !== 'open' && !isStream(answer))
    .map(({ method, path }) => ({ method: method.toUpperCase(), path: `${prefix}${path.replace(/:\w+/g, 'nobody')}` })),
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

  /** The answers of a GET, and of all else whether rights refuse it: what one has changed, the next finds changed. */
  const answersTo = async (header: string, routes: readonly Ask[]): Promise<readonly string[]> => {
    const answers: string[] = [];
    for (const { method, path } of routes) {
      const { status } = await service.ask(
        method,
        path,
        method === 'GET' ? undefined : {},
        { Authorization: header },
        null,
      );
      answers.push(`${method} ${path} ${method === 'GET' || status === 403 ? status : 'allowed'}`);
    }
    return answers;
  };

  for (const kind of names)
    it(`give the same rights to each ${kind}`, async () => {
      const routes = sampled(asks, 50);
      const ways = Object.entries(await waysOf(kind));
      const answers = await Promise.all(ways.map(([, [, header]]) => answersTo(header, routes)));
      const methods = ok(await by(ways[0]![1][1])('/whoami')).methods;
      for (const [n, [way, [via, header]]] of ways.entries()) {
        const who = ok(await by(header)('/whoami'));
        assert.deepEqual([who.via, who.methods], [via, methods], way);
        assert.deepEqual(answers[n], answers[0], way);
      }
      const refused = answers[0]!.filter((answer) => answer.endsWith(' 403')).length;
      assert.equal(refused > 0, kind !== 'admin', `${refused} of ${routes.length} refused`);
    }).timeout(300_000);
});
