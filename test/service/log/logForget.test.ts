import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { anchorLines, type DigestSigned, type LogRewritten } from '@automation-platform/log-proof';
import { verifyAndShow } from '../../../src/cli/commands/auditVerify.ts';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import type { Asked } from '../../../src/cli/law/plan.ts';
import { claimsOn } from '../../../src/commands/engine/claims.ts';
import { readConfig } from '../../../src/config.ts';
import { encode } from '../../../src/store/event.ts';
import { logAt } from '../../../src/store/moving/replaceLog.ts';
import type { StoredEvent } from '../../../src/store/port.ts';
import { keysOrNew } from '../../../src/store/signingKeys.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { runInProcess } from '../../support/command.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepKills } from '../../support/kills/sweep.ts';
import { storedIn, withLog } from '../../support/logged.ts';
import { startProgram } from '../../support/process.ts';
import { nobody, textOf, written } from '../../support/samples/logForget.ts';
import { adminPassword, startService } from '../../support/service.ts';
import { foreign, signRest } from '../../support/signedLog.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';

const password = 'a long enough password';

describe('log copy within the law', () => {
  let folder: string;
  let nora: string;
  let other: string;
  const at = (name: string): string => join(folder, name, 'events.db');
  const configOf = (name: string) =>
    readConfig({ DATA_DIR: join(folder, name), AUDIT_ANCHOR: join(folder, 'anchor.ndjson') });

  const eventsOf = (name: string) => withLog(at(name), storedIn);
  const copied = async (name: string, asked: Partial<Asked>, from = 'old'): Promise<string> => {
    const output = new PassThrough();
    const rewrite = { asked: { ...nobody, ...asked }, config: configOf('old') };
    await logCopy(`sqlite:${at(from)}`, `sqlite:${at(name)}`, new AbortController().signal, { output, rewrite });
    output.end();
    let said = '';
    for await (const chunk of output) said += chunk;
    return said;
  };
  const verified = async (name: string): Promise<string> => {
    const output = new PassThrough();
    const { signal } = new AbortController();
    const messages = new PassThrough();
    messages.resume();
    await verifyAndShow({
      log: `sqlite:${at(name)}`,
      key: undefined,
      config: configOf('old'),
      signal,
      output,
      messages,
    });
    output.end();
    let text = '';
    for await (const chunk of output) text += chunk;
    return text;
  };
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'log-forget-'));
    const service = await startService({}, join(folder, 'old'));
    const made = async (...args: Parameters<typeof service.ask>) => {
      const answer = await service.ask(...args);
      assert.equal(answer.status, 200, `${args[1]}: ${answer.text}`);
      return answer.body.data;
    };
    const person = { username: 'nora.petrova', firstname: 'Nora', email: 'nora@example.com', password };
    nora = (await made('POST', '/authorization/accounts', { ...person, memberOf: ['operators'] }))._id;
    const asNora = service.as({ user: person.username, password });
    assert.equal(
      (await asNora('POST', `${om}/automations`, { name: 'by-nora', description: 'nora wrote this' })).status,
      200,
    );
    assert.equal((await asNora('DELETE', `/authorization/accounts/${nora}`)).status, 403);
    await made('PATCH', `/authorization/accounts/${nora}`, {
      username: 'nora.smirnova',
      email: 'smirnova@example.com',
    });
    // So many groups make the change so large that the log stores it in parts.
    const externalGroups = Array.from({ length: 500 }, (_, n) => `${n} ${'𐍈'.repeat(250)}`);
    await made('PATCH', `/authorization/accounts/${nora}`, { username: 'nora.parts', externalGroups });
    await made('PATCH', `/authorization/accounts/${nora}`, { username: 'nora.smirnova', externalGroups: [] });
    await made('DELETE', `/authorization/accounts/${nora}`);
    other = (await made('POST', '/authorization/accounts', { username: 'nora.smirnova', password }))._id;
    // Jobs: one that has ended, and one that runs.
    const start = (workflow: string) =>
      made('POST', `${om}/jobs/start`, { workflow, options: { variables: { of: `variables of ${workflow}` } } });
    const { _id: ended } = await start('ended');
    await start('running');
    await made('POST', `${om}/jobs/watch`, { jobIds: [ended] });
    await made('POST', `${om}/jobs/cancel`, { jobIds: [ended] });
    await made('POST', `${om}/events/tests/happened`, { text: 'published text' });
    await until(async () => (await service.ask('GET', `${om}/jobs/${ended}`)).body.data.status === 'canceled');
    await service.stop();
    const store = await openSqliteStore({ file: at('old') });
    // A claim on a name that the account never got: the service was killed before its event followed.
    const lost = { kind: 'account', name: 'nora.lost' };
    const stream = claimsOn(lost);
    const owner = `account-${nora}`;
    await store.append(stream, -1, [
      encode(
        { stream, revision: 0, id: randomUUID(), source: '@platform/authorization' },
        { topic: 'nameClaimed', data: { ...lost, owner, decidedBy: owner } },
        written,
        '',
      ),
    ]);
    await signRest(store, keysOrNew({ fromSetting: undefined, file: join(folder, 'old', 'audit.key') }));
    await store.close();
  });
  after(() => rmSync(folder, { recursive: true }));

  it('forgets a deleted account: its names, what it was refused, and its claims on names', async () => {
    const said = await copied('forgotten', { forget: nora });
    assert.ok(said.includes(`account ${nora} is forgotten`), said);
    const [old, events] = [await eventsOf('old'), await eventsOf('forgotten')];
    for (const event of events.filter(({ stream }) => stream === `account-${nora}`)) {
      const { username, firstname, email } = JSON.parse(event.data);
      for (const value of [username, firstname, email]) assert.ok([undefined, '(forgotten)'].includes(value), value);
    }
    assert.ok(old.some((event) => event.stream.startsWith('payload-') && textOf(event).includes('nora.parts')));
    const names = /nora\.(petrova|parts|lost)|nora@example|smirnova@example|"Nora"/;
    const named = events.filter((event) => names.test(textOf(event)));
    assert.deepEqual(named, []);
    const left = events.filter((event) => textOf(event).includes('nora.smirnova')).map(({ stream }) => stream);
    assert.ok(left.includes(`account-${other}`), 'another account has this name now');
    assert.ok(left.every((stream) => stream === `account-${other}` || stream.startsWith('name-')));
    assert.ok(
      events.some((event) => textOf(event).includes('nora wrote this')),
      'texts that people wrote stay',
    );
    const actors = events.map(({ metadata }) => JSON.parse(metadata).actor).filter((actor) => actor?.id === nora);
    assert.ok(actors.length > 0 && actors.every(({ username }) => username === '(forgotten)'));
    const rows = (list: readonly StoredEvent[]) =>
      list.filter(({ stream }) => stream.startsWith('denied-')).flatMap(({ data }) => JSON.parse(data).rows);
    assert.ok(rows(old).some(({ account }) => account === nora));
    assert.ok(rows(events).some(({ account, address }) => account === '(forgotten)' && address === '(forgotten)'));
    assert.ok(!rows(events).some(({ account }) => account === nora));
    const ids = new Set(old.map(({ id }) => id));
    const fresh = events.filter(({ id, stream }) => !ids.has(id) && !stream.startsWith('payload-'));
    assert.ok(
      fresh.every(({ stream }) => stream === 'digest-log'),
      'ids stay',
    );
    const claims = (list: readonly StoredEvent[]) =>
      new Set(list.map(({ stream }) => stream).filter((stream) => stream.startsWith('name-'))).size;
    assert.equal(claims(old) - claims(events), 3, 'the streams of the names that nobody else has claimed');
  });

  it('begins the signatures anew, and the anchor is told', async () => {
    const digests = (await eventsOf('forgotten')).filter(({ stream }) => stream === 'digest-log');
    assert.deepEqual(
      digests.map(({ revision, type }) => [revision, type]),
      [
        [0, '@platform/log:logRewritten'],
        [1, '@platform/log:digestSigned'],
      ],
    );
    const [last] = (await eventsOf('old')).filter(({ stream }) => stream === 'digest-log').slice(-1);
    const { digest, key } = JSON.parse(last!.data) as DigestSigned;
    assert.deepEqual(JSON.parse(digests[0]!.data) as LogRewritten, {
      removed: { accounts: [nora], jobs: null, events: null },
      digest,
      key,
    });
    const { verified: count, signed, uncovered } = JSON.parse(await verified('forgotten'));
    assert.deepEqual([count - signed, uncovered], [1, 1], 'all but the signature itself');
    const lines = await anchorLines(join(folder, 'anchor.ndjson'));
    assert.deepEqual(
      lines.map(({ topic }) => topic),
      ['logRewritten', 'digestSigned'],
    );
    assert.equal(new Set(lines.map(({ log }) => log)).size, 1);
  });

  it('leaves a log that a service runs on', async () => {
    copyFileSync(join(folder, 'old', 'secret.key'), join(folder, 'forgotten', 'secret.key'));
    const service = await startService({}, join(folder, 'forgotten'));
    try {
      const { status, body } = await service.ask('GET', `${om}/automations`);
      assert.equal(status, 200);
      assert.deepEqual(
        body.data.map(({ name }: { name: string }) => name),
        ['by-nora'],
      );
      assert.equal((await service.ask('GET', '/health/status')).body.status, 'up');
      const made = await service.ask('POST', '/authorization/accounts', { username: 'nora.petrova', password });
      assert.equal(made.status, 200, 'the name is free');
    } finally {
      await service.stop();
    }
  });

  it('forgets only deleted accounts', async () => {
    await assert.rejects(copied('none', { forget: other }), /is not deleted, so it cannot be forgotten/);
    await assert.rejects(copied('none', { forget: 'f'.repeat(24) }), /is not in the log/);
    assert.ok(!existsSync(at('none')), 'nothing was made');
    const env = { DATA_DIR: join(folder, 'old'), ADMIN_PASSWORD: adminPassword };
    const copy = async (...args: string[]) =>
      (await runInProcess(['log', 'copy', `sqlite:${at('old')}`, `sqlite:${at('none')}`, ...args], env)).status;
    assert.equal(await copy('--forget', other), 1);
    assert.equal(await copy('--without-jobs-before', 'yesterday'), 2);
  });

  it('leaves out jobs that had ended and published events, up to a time', async () => {
    const later = new Date(Date.now() + 60_000).toISOString();
    const has = async (name: string) => {
      const events = await eventsOf(name);
      const of = (text: string) => events.some((event) => textOf(event).includes(text));
      return [of('variables of ended'), of('variables of running'), of('published text')];
    };
    assert.deepEqual(await has('old'), [true, true, true]);
    const said = await copied('later', { jobsBefore: later, eventsBefore: later });
    assert.match(said, /1 jobs before .* are left out\n1 published events before/);
    assert.deepEqual(await has('later'), [false, true, false]);
    const [rewritten] = (await eventsOf('later')).filter(({ stream }) => stream === 'digest-log');
    const { removed } = JSON.parse(rewritten!.data) as LogRewritten;
    assert.deepEqual(removed, {
      accounts: [],
      jobs: { before: later, count: 1 },
      events: { before: later, count: 1 },
    });
    assert.match(await verified('later'), /^\{"verified":\d+,"signed":\d+,"uncovered":1\}\n$/);
    await copied('earlier', { jobsBefore: '2026-01-01T00:00:00.000Z', eventsBefore: '2026-01-01T00:00:00.000Z' });
    assert.deepEqual(await has('earlier'), [true, true, true]);
  });

  it('does not say that something was left out which an earlier copy has brought', async () => {
    const [before, later] = ['2026-01-01T00:00:00.000Z', new Date(Date.now() + 60_000).toISOString()];
    await copied('twice', { eventsBefore: before });
    const events = await eventsOf('twice');
    await assert.rejects(
      copied('twice', { eventsBefore: later }),
      /has what is to be left out \(stream publishedEvent-/,
    );
    await assert.rejects(copied('twice', { forget: nora }), /has what is to be left out \(stream name-/);
    assert.deepEqual(await eventsOf('twice'), events);
  });

  it('goes on where it was stopped', async () => {
    const stopped = AbortSignal.abort(new Error('stopped'));
    const rewrite = { asked: { ...nobody, forget: nora }, config: configOf('old') };
    const output = new PassThrough();
    output.resume();
    const [from, to] = [`sqlite:${at('old')}`, `sqlite:${at('again')}`];
    await assert.rejects(logCopy(from, to, stopped, { output, rewrite }), /stopped/);
    for (let n = 0; n < 2; n++) await logCopy(from, to, new AbortController().signal, { output, rewrite });
    const texts = async (name: string) =>
      (await eventsOf(name)).filter(({ stream }) => stream !== 'digest-log').map(textOf);
    const whole = await texts('again');
    assert.deepEqual(whole, (await texts('forgotten')).slice(0, whole.length));
    assert.match(await verified('again'), /^\{"verified":\d+,"signed":\d+,"uncovered":1\}\n$/);
  });

  itInSoak('goes on where it was killed, at any fsync', async function () {
    if (cannotKill !== '') this.skip();
    this.timeout(3_600_000);
    const texts = async (name: string) =>
      (await eventsOf(name)).filter(({ stream }) => stream !== 'digest-log').map(textOf);
    await copied('whole', { forget: nora });
    const whole = await texts('whole');
    const env = { DATA_DIR: join(folder, 'old') };
    const copy = (name: string, limit?: string) =>
      startProgram(['log', 'copy', `sqlite:${at('old')}`, `sqlite:${at(name)}`, '--forget', nora], env, { limit });
    await sweepKills(async (n, limit) => {
      const name = `killed${n}`;
      if ((await copy(name, limit).ended) === 0) return true;
      const found = logAt(at(name)) ? await texts(name) : [];
      assert.deepEqual(found, whole.slice(0, found.length), `left by a kill at fsync ${n}`);
      const program = copy(name);
      assert.equal(await program.ended, 0, program.output().err);
      assert.deepEqual(await texts(name), whole, `killed at fsync ${n}`);
      const topics = (await eventsOf(name)).filter(({ stream }) => stream === 'digest-log').map(({ type }) => type);
      assert.deepEqual(topics.slice(0, 2), ['@platform/log:logRewritten', '@platform/log:digestSigned']);
      assert.match(await verified(name), /^\{"verified":\d+,"signed":\d+,"uncovered":1\}\n$/);
      return false;
    });
  });

  it('counts a job by its last event, to the millisecond; events that name it stay', async () => {
    const lastAt = async (text: string): Promise<string> => {
      const all = await eventsOf('old');
      const { stream } = all.find((event) => textOf(event).includes(text)) ?? assert.fail(text);
      const last = all.findLast((event) => event.stream === stream) ?? assert.fail(stream);
      return JSON.parse(last.metadata).at;
    };
    const after = (time: string): string => new Date(Date.parse(time) + 1).toISOString();
    const has = async (name: string, text: string): Promise<boolean> =>
      (await eventsOf(name)).some((event) => textOf(event).includes(text));
    const [ended, published] = [await lastAt('variables of ended'), await lastAt('published text')];
    await copied('at', { jobsBefore: ended, eventsBefore: published });
    assert.deepEqual([await has('at', 'variables of ended'), await has('at', 'published text')], [true, true]);
    await copied('after', { jobsBefore: after(ended), eventsBefore: after(published) });
    assert.deepEqual([await has('after', 'variables of ended'), await has('after', 'published text')], [false, false]);
    const old = await eventsOf('old');
    const job = old.find((event) => textOf(event).includes('variables of ended'))?.stream.slice('job-'.length) ?? '';
    const naming = (events: readonly StoredEvent[]) =>
      events.filter((event) => event.stream !== `job-${job}` && textOf(event).includes(job)).map(({ id }) => id);
    assert.deepEqual(naming(await eventsOf('after')), naming(old));
    assert.ok(naming(old).length > 0, 'somebody watches the job');
  });

  it('says that the old log was never signed', async () => {
    const store = await openSqliteStore({ file: at('unsigned') });
    await store.append('orders-1', -1, [foreign(1)]);
    await store.close();
    await copied('anew', { eventsBefore: '2026-01-01T00:00:00.000Z' }, 'unsigned');
    const [rewritten] = (await eventsOf('anew')).filter(({ stream }) => stream === 'digest-log');
    const { digest, key } = JSON.parse(rewritten?.data ?? '') as LogRewritten;
    assert.deepEqual([digest, key], [null, null]);
  });
});
