import assert from 'node:assert/strict';
import { type ApiNode, memoryCluster } from '../../support/cluster.ts';
import { browser, logoutClaims, startIssuer } from '../../support/issuer.ts';
import { ok } from '../../support/people.ts';
import { adminPassword } from '../../support/service.ts';
import { openStream, type Stream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';

const paths = ['/operations-manager/events/stream', '/operations-manager/jobs/stream'];

describe('streams that a login has opened, on two nodes,', function () {
  this.timeout(120_000);
  const password = 'a long enough password';
  let cluster: Awaited<ReturnType<typeof memoryCluster>>;
  const streams: Stream[] = [];

  before(async () => {
    cluster = await memoryCluster({ OUTBOUND_ALLOW: '127.0.0.1' });
    await cluster.start();
    const account = { username: 'ann', password, memberOf: ['operators'] };
    ok(await cluster.log.ask('POST', '/authorization/accounts', account));
  });
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });
  after(() => cluster?.remove());

  const logIn = async (node: ApiNode, username = 'ann', secret = password): Promise<string> => {
    const answer = await node.ask('POST', '/login', { username, password: secret }, { Authorization: '' });
    assert.equal(answer.status, 200, answer.text);
    return answer.text;
  };
  const by = (token: string) => ({ Authorization: `Bearer ${token}` });
  /** Both kinds of streams, on both nodes. */
  const open = async (headers: Record<string, string>): Promise<readonly Stream[]> => {
    const opened = await Promise.all(
      cluster.nodes.flatMap((node) => paths.map((path) => openStream(node.url(), '', { headers, path }))),
    );
    streams.push(...opened);
    for (const { status, text } of opened) assert.equal(status, 200, text());
    return opened;
  };
  const haveEnded = async (opened: readonly Stream[], what: string): Promise<void> => {
    await until(() => opened.every(({ ended }) => ended()), what);
    for (const { frames } of opened) {
      const { event, data } = frames.at(-1) ?? {};
      assert.deepEqual([event, data.reason], ['dropped', 'rights'], what);
    }
  };
  const goOn = async (opened: readonly Stream[], node: ApiNode): Promise<void> => {
    ok(await node.ask('POST', '/operations-manager/events/test/stillThere', {}));
    const listening = opened.filter((_, n) => n % paths.length === 0);
    const hear = ({ frames }: Stream): boolean => frames.some(({ event }) => event === 'test:stillThere');
    await until(() => listening.every(hear), 'the event');
    for (const { ended } of opened) assert.equal(ended(), false);
  };

  it('end with its logout at either node; those of other logins and passwords go on', async () => {
    const [one, another] = cluster.nodes;
    for (const [there, here] of [
      [one, another],
      [another, one],
    ] as const) {
      const token = await logIn(there);
      const ending = await open(by(token));
      const others = [...(await open(by(await logIn(here)))), ...(await open({}))];
      ok(await there.ask('POST', '/logout', undefined, by(token)));
      await haveEnded(ending, 'the end after a logout');
      await goOn(others, here);
      for (const stream of others) stream.close();
    }
  });

  it('end when the password is changed', async () => {
    const [one, another] = cluster.nodes;
    const ending = await open(by(await logIn(one)));
    const others = await open(by(await logIn(another, 'admin', adminPassword)));
    ok(await another.ask('PATCH', '/authorization/accounts/ann', { password: `${password} 2` }));
    await haveEnded(ending, 'the end after a change of the password');
    await goOn(others, one);
    ok(await another.ask('PATCH', '/authorization/accounts/ann', { password }));
  });

  it('end when the issuer says that the person has logged out', async () => {
    const [one, another] = cluster.nodes;
    const people = { finn: { preferred_username: 'finn', groups: ['noc'] } };
    const issuer = await startIssuer({ service: one.url(), name: 'corp', people });
    try {
      const properties = { ...issuer.properties };
      ok(await one.ask('POST', '/authorization/providers', { name: 'corp', type: 'oidc', properties }));
      const mapping = { provenance: 'corp', externalGroup: 'noc', platformGroups: ['operators'] };
      ok(await one.ask('POST', '/group-mappings', mapping));
      issuer.letIn('finn');
      const user = browser();
      const { url } = await user.follow(`${one.url()}/authorization/oidc/corp/login`, issuer.redirectUri);
      assert.equal((await user.get(url)).status, 200);
      const cookie = user.jarOf(one.url()).get('token') ?? assert.fail('no cookie');
      const ending = await open(by(cookie));
      const logout = { logout_token: await issuer.sign(logoutClaims('finn')) };
      ok(await another.ask('POST', '/authorization/oidc/corp/backchannel-logout', logout, { Authorization: '' }));
      await haveEnded(ending, 'the end after the word of the issuer');
    } finally {
      await issuer.stop();
    }
  });

  it('end with uniqueSession when the account logs in elsewhere', async () => {
    const [one, another] = cluster.nodes;
    const token = await logIn(one);
    const ending = await open(by(token));
    const properties = { authenticationProps: { uniqueSession: true } };
    ok(await another.ask('PUT', '/profiles/one', { properties }));
    ok(await another.ask('PUT', '/profiles/one/active'));
    const next = await open(by(await logIn(another)));
    await haveEnded(ending, 'the end after another login');
    await goOn(next, one);
  });
});
