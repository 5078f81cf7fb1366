import assert from 'node:assert/strict';
import { typeOf } from '@automation-platform/devices';
import type { SshProperties } from '../../../src/domain/configuration-manager/adapterSchemas.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { blockList } from '../../../src/southbound/addresses.ts';
import { UnknownOutcome } from '../../../src/southbound/failure.ts';
import { outbound } from '../../../src/southbound/outbound.ts';
import type { AdapterAnswer } from '../../../src/southbound/port.ts';
import { sshAdapter } from '../../../src/southbound/ssh.ts';
import { fails } from '../../support/deviceAdapter.contract.ts';
import { listeningPeer, peer } from '../../support/peer.ts';
import {
  type Played,
  play,
  type Recorded,
  recordedDevices,
  type Scene,
  type Session,
} from '../../support/recordedDevices.ts';
import { numbers, sampled } from '../../support/sample.ts';
import { fingerprint, speaks } from '../../support/sshPeer.ts';

const guard = outbound({ allowed: { hosts: new Set(), addresses: blockList(['127.0.0.1']) }, stores: [] });

/** A stage on which a scene is played: it calls the device, and looks at what the device has received. */
type Stage = {
  readonly device: Recorded;
  readonly played: Played;
  readonly signal: AbortSignal;
  /** The time of the call is over. */
  timeOver(): void;
  apply(config: string, more?: Partial<SshProperties>, options?: object): Promise<Record<string, any>>;
  dryRun(config: string): Promise<Record<string, any> | undefined>;
  confirm(): Promise<Record<string, any>>;
  configuration(more?: Partial<SshProperties>): Promise<string>;
  behave(scene: Scene): void;
  refusesLogins(): void;
};

const config = ({ lines }: Recorded): string => `${lines.join('\n')}\n`;
const hasCandidate = ({ commit }: Recorded): boolean => commit !== undefined;

/** That the call ended as the device was before or after the change took effect: never as a success. */
const isLost = async (call: Promise<unknown>, took: boolean): Promise<void> => {
  const error = await call.then(
    (answer) => assert.fail(JSON.stringify(answer)),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof RequestError, String(error));
  assert.equal(error instanceof UnknownOutcome, took, error.message);
  assert.equal(error.code, took ? 'unavailable' : 'adapter_failed');
};

/** A candidate takes effect by its commit, any other line at once. */
const effectOf = ({ commit, lines }: Recorded): string => commit ?? lines[0];

const scenes: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  'takes a login and a configuration': async ({ device, apply, played }) => {
    const answer = await apply(config(device));
    const verified = device.show === undefined ? null : true;
    assert.deepEqual([answer.http, answer.status, answer.verified], [200, 'success', verified], JSON.stringify(answer));
    assert.deepEqual(played.running, device.lines);
  },

  'refuses a line in the middle': async ({ device, apply, played }) => {
    const [first, , last] = device.lines;
    const answer = await apply(`${first}\nmistake\n${last}\n`);
    const left = hasCandidate(device) ? [] : [first];
    assert.deepEqual(
      [answer.http, answer.refused, answer.left],
      [422, { line: 2, text: 'mistake' }, device.show === undefined ? null : left],
      JSON.stringify(answer),
    );
    assert.ok(device.refuses.includes(answer.message) && answer.message !== '', answer.message);
    assert.deepEqual(played.running, left);
    assert.ok(!played.received.includes(last));
  },

  'refuses the commit, or to save': async ({ device, apply, behave, played }) => {
    const { commit, commitRefused = '', save } = device;
    behave({
      takes: (line, session) => {
        if (commit === undefined || line !== commit) return false;
        session.answer(line, commitRefused);
        return true;
      },
    });
    const leave = [...typeOf(device.type).leave, save];
    const answer = await apply(config(device), commit === undefined ? { leave } : {});
    assert.deepEqual([answer.http, answer.refused?.text], [422, commit ?? save], JSON.stringify(answer));
    if (commit === undefined) assert.deepEqual(answer.left, device.show === undefined ? null : device.lines);
    else assert.deepEqual([answer.left, played.running], [[], []]);
  },

  'goes back, as nobody confirms': async ({ device, apply, behave }) => {
    const confirmed = device.confirmed ?? 'commit confirmed 1';
    behave({
      takes: (line, session) => {
        if (line === device.show) session.goBack();
        return false;
      },
    });
    const answer = await apply(config(device), { leave: [confirmed, ...typeOf(device.type).leave] });
    if (device.confirmed === undefined) assert.deepEqual([answer.http, answer.refused?.text], [422, confirmed]);
    else {
      assert.equal(answer.status, 'unverified');
      assert.notEqual(answer.verified, true);
    }
  },

  'says what would change, and forgets it': async ({ device, dryRun, played }) => {
    const answer = await dryRun(config(device));
    assert.deepEqual(played.running, []);
    if (device.compare === undefined) return assert.equal(answer, undefined);
    assert.deepEqual([answer?.http, answer?.status, answer?.predicted], [200, 'dryRun', false], JSON.stringify(answer));
    assert.equal(answer?.diff.match(/^\+/gm).length, 3);
    assert.ok(played.received.includes(device.discard?.at(-1) ?? '') && !played.received.includes(device.commit ?? ''));
    const [first] = device.lines;
    const refused = await dryRun(`${first}\nmistake\n`);
    assert.deepEqual([refused?.http, refused?.refused, refused?.left], [422, { line: 2, text: 'mistake' }, []]);
    assert.deepEqual(played.running, []);
  },

  'waits for a confirmation, and takes it': async ({ device, apply, confirm, behave, played }) => {
    if (device.confirmed === undefined) return;
    const answer = await apply(config(device), {}, { confirm: 1 });
    assert.deepEqual([answer.http, answer.status], [200, 'success'], JSON.stringify(answer));
    assert.match(answer.warnings.join(), /goes back by itself/);
    assert.ok(played.received.includes(device.confirmed));
    assert.equal((await confirm()).http, 200);
    behave({
      takes: (line, session) => {
        if (!/^(?:commit.*|confirm|configure session .* commit)$/.test(line)) return false;
        session.answer(line, 'something that nobody knows');
        return true;
      },
    });
    assert.equal((await confirm()).http, 422);
  },

  'takes the place of the whole configuration': async ({ device, apply, played }) => {
    if (typeOf(device.type).candidate?.replace === undefined) return;
    const [first, second] = device.lines;
    await apply(config(device));
    const kept = device.type === 'juniper-junos' ? device.shows([first]) : `${first}\n${second}\n`;
    const answer = await apply(kept, {}, { replace: true });
    assert.deepEqual([answer.http, answer.status, answer.verified], [200, 'success', true], JSON.stringify(answer));
    assert.deepEqual(played.running, device.type === 'juniper-junos' ? [first] : [first, second]);
  },

  'saves after the commit, or says that it did not': async ({ device, apply, behave }) => {
    const { save } = typeOf(device.type);
    const answer = await apply(config(device), {}, { save: true });
    const isKnown = save.every((line) => line === device.save);
    if (!isKnown) return;
    if (save.length === 0) assert.equal(answer.status, 'success', JSON.stringify(answer));
    behave({});
    if (save.length > 0)
      assert.deepEqual([answer.http, answer.refused?.text], [422, device.save], JSON.stringify(answer));
  },

  'is lost before anything takes effect': async ({ device, apply, behave, played }) => {
    const until = hasCandidate(device) ? device.lines[1] : device.enter[0];
    behave({
      takes: (line, { channel }) => {
        const isThere = until === undefined || line === until;
        if (isThere) channel.end();
        return isThere;
      },
    });
    await isLost(apply(config(device)), false);
    assert.deepEqual(played.running, []);
  },

  'is lost after something took effect': async ({ device, apply, behave, played }) => {
    behave({
      takes: (line, { channel }) => {
        if (line === effectOf(device)) channel.end();
        return line === effectOf(device);
      },
    });
    await isLost(apply(config(device)), true);
    assert.equal(played.received.filter((line) => line === effectOf(device)).length, 1);
  },

  'shows more than 4 MiB': async ({ device, apply, configuration, behave, played }) => {
    const show = device.show ?? 'cat /tmp/one';
    behave({
      takes: (line, { channel }) => {
        if (line === show) channel.write(`${line}\r\n${'a line of many\r\n'.repeat(320_000)}`);
        return line === show;
      },
    });
    await fails(configuration({ show }), /too much output/);
    const answer = await apply(config(device), { show });
    assert.deepEqual([answer.http, answer.status, answer.verified], [200, 'success', null], JSON.stringify(answer));
    assert.deepEqual(played.running, device.lines);
  },

  'shows a prompt within an answer that refuses': async ({ device, apply, behave }) => {
    const [first] = device.lines;
    behave({
      takes: (line, session) => {
        if (line !== first) return false;
        session.channel.write(`${line}\r\n${session.prompt()}`, () =>
          setImmediate(() => {
            session.channel.write(`\r\n${device.refuses.replaceAll('\n', '\r\n')}\r\n${session.prompt()}`);
          }),
        );
        return true;
      },
    });
    const answer = await apply(`${first}\n`);
    assert.equal(answer.http, 422, JSON.stringify(answer));
  },

  'does not accept a password': async ({ device, apply, behave, refusesLogins, played }) => {
    if (device.user === undefined || typeOf(device.type).enable === undefined) {
      refusesLogins();
      await fails(apply(config(device)), /does not accept the credentials/);
    } else {
      behave({ refusesEnable: true });
      await fails(apply(config(device), { enablePassword: 'wrong' }), /enable password/);
    }
    assert.deepEqual(played.running, []);
  },

  'answers as another device': async ({ device, apply, behave, timeOver }) => {
    const [first] = device.lines;
    behave({
      takes: (line, session) => {
        if (line !== first) return false;
        session.channel.write(`${line}\r\n${session.prompt(device.name.replace(/\w+$/, 'other'))}`, () =>
          setTimeout(timeOver, 50),
        );
        return true;
      },
    });
    await isLost(apply(config(device)), !hasCandidate(device));
  },

  'shows pages without an end': async ({ device, configuration, behave }) => {
    const show = device.show ?? 'cat /tmp/one';
    behave({
      takes: (line, { channel }) => {
        if (line !== show) return false;
        const page = (): void => void channel.write(`${'a line of many\r\n'.repeat(20_000)}${device.pager}`);
        channel.write(`${line}\r\n`);
        channel.on('data', (data: Buffer) => {
          if (String(data).startsWith(' ')) page();
        });
        page();
        return true;
      },
    });
    await fails(configuration({ show }), /too much output/);
  },

  'writes a character in a second': async ({ device, apply, behave, timeOver, signal }) => {
    const [first] = device.lines;
    behave({
      takes: (line, { channel }) => {
        if (line !== first) return false;
        const written = [...line, '\r', '\n', '#'];
        const timer = setInterval(() => channel.write(written.shift() ?? '#'), 1000);
        signal.addEventListener('abort', () => clearInterval(timer));
        setTimeout(timeOver, 1500);
        return true;
      },
    });
    await isLost(apply(config(device)), !hasCandidate(device));
  },

  'answers with garbage': async ({ device, apply, behave }) => {
    const next = numbers(device.type.length);
    const garbage = (): Buffer => Buffer.from(Array.from({ length: 300 }, () => Math.floor(next() * 256)));
    behave({
      takes: (line, session: Session) => {
        if (!device.lines.some((one) => one === line)) return false;
        session.channel.write(`${line}\r\n`);
        session.channel.write(garbage());
        session.channel.write(`\r\n${session.prompt()}`);
        return true;
      },
    });
    const answer = await apply(config(device));
    // A shell says by its exit status that all is well.
    if (device.type !== 'linux') assert.notEqual(answer.status, 'success', JSON.stringify(answer));
  },
};

describe('A recorded device of the type', () => {
  const { port, behave: serve } = peer();
  const theOne = { port, serve };
  const all = recordedDevices.flatMap((device) =>
    Object.entries(scenes).map(([title, scene]) => ({ title: `${device.type} that ${title}`, device, scene })),
  );

  const named = { change: '0123456789abcdef01234567' };
  const shown = ({ status, text }: AdapterAnswer) => ({ ...JSON.parse(text), http: status });

  const stageOf = (device: Recorded, { port, serve } = theOne): Stage => {
    const played: Played = { received: [], running: [] };
    const end = new AbortController();
    const adapter = (more: Partial<SshProperties> = {}) =>
      sshAdapter('tested', { username: 'ops', password: 'secret', hostKey: fingerprint, ...more }, guard);
    const target = () => ({ name: 'd', host: '127.0.0.1', port: port(), ostype: device.type });
    const behave = (scene: Scene): void => serve(speaks({ shell: play(device, scene, played) }));
    behave({});
    return {
      device,
      played,
      signal: end.signal,
      timeOver: () => end.abort(new DOMException('The time is over', 'TimeoutError')),
      behave,
      refusesLogins: () => serve(speaks({ auth: (context) => context.reject([]) })),
      apply: async (text, more, options = {}) =>
        shown(await adapter(more).apply(target(), text, { ...named, ...options }, end.signal)),
      dryRun: async (text) => {
        const answer = await adapter().dryRun?.(target(), text, named, end.signal);
        return answer && shown(answer);
      },
      confirm: async () => shown((await adapter().confirm?.(target(), named, end.signal)) ?? assert.fail()),
      configuration: (more) => adapter(more).configuration(target(), end.signal),
    };
  };

  it('is there for each type and scene', () => {
    assert.equal(recordedDevices.length, 15);
    assert.ok(all.length >= 180);
  });
  for (const { title, device, scene } of sampled(all, 20)) it(title, () => scene(stageOf(device)));

  it('keeps to its scene while all others are played', async () => {
    const peers = await Promise.all(all.map(listeningPeer));
    try {
      const played = await Promise.allSettled(
        all.map(({ device, scene }, n) => {
          const { port, behave } = peers[n] ?? assert.fail();
          return scene(stageOf(device, { port: () => port, serve: behave }));
        }),
      );
      const faults = played.flatMap((one, n) => (one.status === 'rejected' ? [`${all[n]?.title}: ${one.reason}`] : []));
      assert.deepEqual(faults, []);
      await Promise.all(peers.map(({ idle }) => idle()));
    } finally {
      for (const { close } of peers) close();
    }
  });
});
