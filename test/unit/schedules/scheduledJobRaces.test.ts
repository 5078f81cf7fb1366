import assert from 'node:assert/strict';
import { migrateAgendaJobs } from '../../../src/commands/automation-catalog/scheduledJobMigrations.ts';
import { createScheduledJob } from '../../../src/commands/automation-catalog/scheduledJobs.ts';
import { claimsOn } from '../../../src/commands/engine/claims.ts';
import { createAutomation } from '../../../src/commands/operations-manager/automations.ts';
import { scheduledJobs } from '../../../src/projections/automation-catalog/scheduledJobs.ts';
import { automations } from '../../../src/projections/operations-manager/automations.ts';
import { triggers } from '../../../src/projections/operations-manager/triggers.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';
import { outcome } from '../../support/writer.ts';

const job = 'a'.repeat(24);

describe('A migration of a scheduled job', () => {
  const { log, node } = nodesOnLog({ reacting: true });
  const found = async ({ tools, catchUp }: TestNode) => {
    await catchUp();
    const [made, began, [kept]] = await Promise.all([
      tools.query(automations),
      tools.query(triggers),
      tools.query(scheduledJobs),
    ]);
    return {
      automations: made.map(({ name }) => name),
      triggers: began.map(({ type }) => type as string).sort(),
      migrated: kept?.migrated === true,
    };
  };
  const whole = { automations: ['Audit'], triggers: ['manual', 'schedule'], migrated: true };
  const carriedOut = (one: TestNode) => until(async () => (await found(one)).migrated, 'the migration');

  beforeEach(async () => {
    await (await node()).command(createScheduledJob, job, {
      name: 'Audit',
      repeatInterval: '1 day',
      data: { workflowId: 'Audit' },
    });
  });

  it('makes one automation when two nodes migrate it at once', async () => {
    const both = await Promise.all(
      [await node(), await node()].map((each, i) => each.command(migrateAgendaJobs, `m${i}`, { agendaJobs: [job] })),
    );
    assert.deepEqual(both.map(({ changed }) => changed).sort(), [false, true]);
    const third = await node();
    await carriedOut(third);
    assert.deepEqual(await found(third), whole);
  });

  /** A node that, when it is about to see whether the name is taken, first lets something else happen. */
  const slowNode = (other: () => Promise<unknown>): Promise<TestNode> => {
    const named = claimsOn({ kind: 'automation', name: 'Audit' });
    let happened = false;
    return node({
      ...log.store,
      async *read(stream: string, from?: number) {
        if (stream === named && !happened) {
          happened = true;
          await other();
        }
        yield* log.store.read(stream, from);
      },
    });
  };

  it('skips what another node has migrated since it chose the name', async () => {
    const other = await node();
    const slow = await slowNode(() => other.command(migrateAgendaJobs, 'm', { agendaJobs: [job] }));
    const { changed } = await slow.command(migrateAgendaJobs, 'n', { agendaJobs: [job] });
    assert.equal(changed, false);
    await carriedOut(slow);
    assert.deepEqual(await found(slow), whole);
  });

  it('takes the next name when another automation has got the name since it chose it', async () => {
    const other = await node();
    const slow = await slowNode(() => other.command(createAutomation, 'b'.repeat(24), { name: 'Audit' }));
    await slow.command(migrateAgendaJobs, 'm', { agendaJobs: [job] });
    await carriedOut(slow);
    const { automations } = await found(slow);
    assert.deepEqual(automations.sort(), ['Audit', 'Audit (2)']);
  });

  it('and a new automation of its name both come to be, under two names', async () => {
    const [one, two] = [await node(), await node()];
    const [created] = await Promise.all([
      outcome(two.command(createAutomation, 'b'.repeat(24), { name: 'Audit' })),
      one.command(migrateAgendaJobs, 'm', { agendaJobs: [job] }),
    ]);
    await carriedOut(one);
    await one.catchUp();
    const { automations } = await found(one);
    assert.deepEqual(automations.sort(), typeof created === 'object' ? ['Audit', 'Audit (2)'] : ['Audit']);
  });
});
