import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGroupMapping, updateGroupMapping } from '../../../src/commands/group-mappings/groupMappings.ts';
import { readConfig } from '../../../src/config.ts';
import type { GroupMapping } from '../../../src/domain/group-mappings/groupMappings.ts';
import { serviceLogger } from '../../../src/process/logger.ts';
import { partsOf } from '../../../src/service/parts.ts';
import { openServiceNode } from '../../../src/service/serviceNode.ts';
import { stopInOrder } from '../../../src/service/start.ts';
import { context } from '../../support/given.ts';
import { until } from '../../support/until.ts';

type Subscriber = Parameters<Awaited<ReturnType<typeof openServiceNode>>['node']['subscribe']>[0];

describe('A change of a group mapping', () => {
  it('wakes the authenticator and what looks at the rights of connected readers, and nobody else', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    const config = readConfig({ PORT: '0', DATA_DIR: folder, READ_WAIT_MS: '30000' });
    const opening = await openServiceNode(config, () => undefined, new AbortController().signal);
    const woken: (readonly [keyof Subscriber, Subscriber])[] = [];
    const subscribe = (subscriber: Subscriber): void => {
      const { categories, onStored, onShown } = subscriber;
      opening.node.subscribe({
        categories,
        ...(onStored && {
          onStored: (events) => {
            woken.push(['onStored', subscriber]);
            return onStored(events);
          },
        }),
        ...(onShown && {
          onShown: (event) => {
            woken.push(['onShown', subscriber]);
            onShown(event);
          },
        }),
      });
    };
    const logger = serviceLogger('warn', { write: () => undefined });
    const parts = partsOf(config, logger, { ...opening, node: { ...opening.node, subscribe } });
    const { node, auth, settings, sessions, schedules, work } = parts;
    try {
      node.start();
      const change = (command: typeof createGroupMapping, input: Partial<GroupMapping>) =>
        node.handle(command, {
          id: 'ldap g1',
          input: input as GroupMapping,
          actor: context.actor,
          operation: command.name,
          requestId: 'r',
        });
      await change(createGroupMapping, { externalGroup: 'g1', provenance: 'ldap', platformGroups: [] });
      await node.settled(await node.head());
      woken.length = 0;
      const { position } = await change(updateGroupMapping, { platformGroups: ['operators'] });
      await node.run.reached(position);
      await until(() => woken.length >= 5, 'the subscribers');
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);

      const names = new Map<unknown, string>([
        [auth.onStored, 'authenticator'],
        [auth.onEvent, 'authenticator'],
        [settings.onStored, 'settings'],
        [sessions.onEvent, 'sessions'],
        [schedules.onEvent, 'schedules'],
        [work.onEvent, 'jobs'],
      ]);
      assert.deepEqual(woken.map(([call, subscriber]) => `${names.get(subscriber[call]) ?? 'rights'} ${call}`).sort(), [
        'authenticator onShown',
        // Once before the answer, and once when the log delivers it.
        'authenticator onStored',
        'authenticator onStored',
        'rights onShown',
        'rights onShown',
      ]);
    } finally {
      await stopInOrder(parts, { stop: async () => undefined }, undefined);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
