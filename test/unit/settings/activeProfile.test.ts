import assert from 'node:assert/strict';
import { deleteAccount, updateAccount } from '../../../src/commands/authorization/accounts.ts';
import { updateGroup } from '../../../src/commands/authorization/groups.ts';
import {
  activateProfile,
  createProfile,
  deleteProfile,
  updateProfile,
} from '../../../src/commands/profiles/profiles.ts';
import { activeProfileId } from '../../../src/domain/profiles/profiles.ts';
import { activeSettings, settingsOf } from '../../../src/http/profiles/settings.ts';
import { splitStream } from '../../../src/store/event.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { fixedClock, openLog, startNode, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';
import { outcome } from '../../support/writer.ts';

describe('settings', () => {
  it('are those of the profile, or the defaults', () => {
    assert.deepEqual(settingsOf({}), {
      admins: [],
      logoutTime: 30,
      principalTimeout: 1,
      relayStateTimeout: 300,
      cookieName: 'token',
      uniqueSession: false,
      brokerPrincipal: true,
      cors: { origins: [], credentials: false },
      cacheControl: false,
      timeout: 0,
      logLevel: undefined,
      shutdownMs: 10_000,
      adapterOrder: [],
      audit: true,
      eventWorkerCount: 3,
      transformationWorkerCount: 3,
      jobsAtOnce: 16,
      startLimit: { most: 0, windowMs: 1000 },
    });
    assert.deepEqual(
      settingsOf({
        authenticationProps: {
          admins: ['a', { group: 'b', provenance: 'p' }, { name: 'c' }, { of: 'nothing' } as object],
          logoutTime: 5,
          principalTimeout: 0,
          relayStateTimeout: 300,
          cookieName: 'c',
          uniqueSession: true,
        },
        expressProps: { cacheControl: true, access_control_allow_origin: '*', timeout: 5 },
        loggerProps: { log_level: 'spam' },
        auditProps: { audit: false },
        systemProps: {
          shutdownTimeout: 3,
          eventWorkerCount: 7,
          transformationWorkerCount: 2,
          taskWorkerThreadCount: 4,
          taskWorkerRateLimit: 5,
          taskWorkerRateLimitPeriod: 6,
        },
        adapterStrategy: { device: { order: ['x', 'y'] } },
      }),
      {
        admins: ['a', { group: 'b', provenance: 'p' }, { group: 'c', provenance: undefined }],
        logoutTime: 5,
        principalTimeout: 0,
        relayStateTimeout: 300,
        cookieName: 'c',
        uniqueSession: true,
        brokerPrincipal: true,
        cors: { origins: ['*'], credentials: false },
        cacheControl: true,
        timeout: 5,
        logLevel: 'trace',
        shutdownMs: 3000,
        adapterOrder: ['x', 'y'],
        audit: false,
        eventWorkerCount: 7,
        transformationWorkerCount: 2,
        jobsAtOnce: 64,
        startLimit: { most: 5, windowMs: 6000 },
      },
    );
  });

  describe('of a node', () => {
    let log: Awaited<ReturnType<typeof openLog>>;
    const ends: (() => Promise<void> | void)[] = [];
    const nodeWith = async (store: EventStore = log.store, clock = fixedClock()) => {
      let fails = 0;
      const told: string[] = [];
      const node: TestNode = await startNode(store, {
        now: clock.now,
        settings: () => settings.current(),
        onEvent: ({ stream }) => {
          if (settings.categories.has(splitStream(stream).category)) void settings.onStored();
        },
      });
      const settings = activeSettings({
        state: async (...args) => {
          if (fails-- > 0) throw new Error('cannot be read');
          return node.tools.state(...args);
        },
        onChange: ({ cookieName }) => told.push(cookieName),
        log: () => undefined,
      });
      ends.push(async () => {
        settings.stop();
        await node.stop();
      });
      await node.catchUp();
      return {
        node,
        settings,
        told,
        clock,
        fail: (times: number) => {
          fails = times;
        },
      };
    };
    const profile = (node: TestNode, id: string, properties = {}) =>
      node.command(createProfile, id, { id, ...properties });
    const activate = (node: TestNode, id: string) => node.command(activateProfile, activeProfileId, { id });
    const admins = (names: readonly string[]) => ({ authenticationProps: { admins: names } });
    beforeEach(async () => {
      log = await openLog();
    });
    afterEach(async () => {
      for (const end of ends.splice(0)) await end();
      await log.close();
    });
    it('stay the same object until something changes, and so do its admins; another node is told by the log', async () => {
      const [{ node: one }, { settings, told }] = [await nodeWith(), await nodeWith()];
      await one.bootstrap();
      const before = settings.current();
      await profile(one, 'a', { authenticationProps: { cookieName: 'x' } });
      await activate(one, 'a');
      await until(() => told.length === 1);
      const after = settings.current();
      assert.deepEqual([after.cookieName, after.admins === before.admins], ['x', true]);
      await one.command(updateProfile, 'a', { properties: { description: 'says nothing to the service' } });
      await settings.refresh();
      assert.equal(settings.current(), after);
      await one.command(updateProfile, 'a', { properties: admins(['admins']) });
      await until(() => told.length === 2);
      assert.deepEqual(settings.current().admins, ['admins']);
    });

    it('are tried again when they cannot be read', async () => {
      const { node, settings, told, fail } = await nodeWith();
      await node.bootstrap();
      await profile(node, 'a', { authenticationProps: { cookieName: 'x' } });
      await node.catchUp();
      await settings.refresh();
      fail(1);
      await activate(node, 'a');
      await until(() => told.length === 1);
      assert.equal(settings.current().cookieName, 'x');
    });

    it('decide anew for how long who is known stays known', async () => {
      const { node, settings, clock } = await nodeWith();
      await node.bootstrap();
      await node.account('bob');
      await profile(node, 'a', { authenticationProps: { principalTimeout: 60 } });
      await activate(node, 'a');
      await settings.refresh();
      const call = () =>
        node.auth.authenticate({
          authorization: `Basic ${btoa('bob:password of bob')}`,
          cookie: undefined,
          address: '',
        });
      await call();
      clock.pass(10 * 60_000);
      assert.ok(!(call() instanceof Promise), 'known for an hour');
      await node.command(updateProfile, 'a', { properties: { authenticationProps: { principalTimeout: 5 } } });
      await node.catchUp();
      await settings.refresh();
      clock.pass(6 * 60_000);
      assert.ok(call() instanceof Promise, 'known for five minutes only');
    });

    /** The store as a node sees it that is stopped at its n-th append from `arm` on. */
    const stopping = (n: number, moment: 'before' | 'after') => {
      let seen = -Infinity;
      let [reached, go] = [() => undefined as void, () => undefined as void];
      const atStop = new Promise<void>((resolve) => {
        reached = resolve;
      });
      const resumed = new Promise<void>((resolve) => {
        go = resolve;
      });
      const store: EventStore = {
        ...log.store,
        append: async (...args) => {
          const mine = ++seen === n;
          if (mine && moment === 'before') {
            reached();
            await resumed;
          }
          const appended = await log.store.append(...args);
          if (mine && moment === 'after') {
            reached();
            await resumed;
          }
          return appended;
        },
      };
      return {
        store,
        atStop,
        arm: () => {
          seen = 0;
        },
        resume: () => go(),
      };
    };

    type Way = readonly [what: string, (n: TestNode) => Promise<unknown>];
    const races: readonly (readonly [Way, Way])[] = [
      [
        ['a profile is deleted', (n) => n.command(deleteProfile, 'b')],
        ['made active', (n) => activate(n, 'b')],
      ],
      [
        ['a profile is made active', (n) => activate(n, 'b')],
        ['deleted', (n) => n.command(deleteProfile, 'b')],
      ],
      [
        ['admins become the group of c', (n) => n.command(updateProfile, 'a', { properties: admins(['g']) })],
        ['c is deleted', (n) => n.command(deleteAccount, 'c')],
      ],
      [
        ['c becomes inactive', (n) => n.command(updateAccount, 'c', { inactive: true })],
        ['a profile by which only c is an admin is made active', (n) => activate(n, 'c')],
      ],
      [
        ['the group of c leaves another', (n) => n.command(updateGroup, 'g', { memberOf: [] })],
        ['that one becomes the one of admins', (n) => n.command(updateProfile, 'a', { properties: admins(['above']) })],
      ],
    ];
    for (const [[what, first], [other, second]] of races) {
      for (const moment of ['before', 'after'] as const) {
        for (const append of [1, 2]) {
          it(`${what} on one node, which stops ${moment} append ${append}, and on another ${other}: one of the two is refused`, async () => {
            const held = stopping(append, moment);
            const { node: one } = await nodeWith(held.store);
            await one.bootstrap();
            await one.group('above');
            await one.group('g', { memberOf: ['above'] });
            await one.account('c', { memberOf: ['g'] });
            await profile(one, 'a');
            await profile(one, 'b');
            await profile(one, 'c', admins(['g']));
            await activate(one, 'a');
            const { node: two } = await nodeWith();
            held.arm();
            const slow = outcome(first(one));
            await held.atStop;
            const quick = await outcome(second(two));
            held.resume();
            const outcomes = [await slow, quick];
            assert.equal(
              outcomes.filter((result) => result === 'conflict' || result === 'not_found').length,
              1,
              JSON.stringify(outcomes),
            );
          });
        }
      }
    }
  });
});
