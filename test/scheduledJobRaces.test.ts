import assert from 'node:assert/strict';
import { migrateAgendaJobs } from '../src/commands/automation-catalog/scheduledJobMigrations.ts';
import { createScheduledJob } from '../src/commands/automation-catalog/scheduledJobs.ts';
import { createAutomation } from '../src/commands/operations-manager/automations.ts';
import { scheduledJobMigration } from '../src/domain/automation-catalog/scheduledJobMigrations.ts';
import { scheduledJobs } from '../src/projections/automation-catalog/scheduledJobs.ts';
import { automations } from '../src/projections/operations-manager/automations.ts';
import { triggers } from '../src/projections/operations-manager/triggers.ts';
import { nodesOnLog, type TestNode } from './node.ts';
import { dying } from './stopping.ts';
import { until } from './until.ts';
import { outcome } from './writer.ts';

const job = 'a'.repeat(24);

describe('A migration of a scheduled job', () => {
  let held: ReturnType<typeof dying> | undefined;
  const { log, node } = nodesOnLog({ reacting: true }, () => held?.bury());
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

  // A turn of the series, three claims, the decision, the automation, two triggers, the mark.
  for (let step = 1; step <= 9; step++) {
    for (const moment of ['before', 'after'] as const) {
      it(`whose process dies ${moment} append ${step} is complete, or has not happened and can be repeated`, async () => {
        held = dying(log.store, step, moment);
        const first = await node(held.store);
        held.arm();
        first.command(migrateAgendaJobs, 'i', { agendaJobs: [job] }).catch(() => undefined);
        await held.dead;
        const next = await node();
        const { decided } = await next.tools.state(scheduledJobMigration, 'i');
        assert.equal(decided !== undefined, step > 5 || (step === 5 && moment === 'after'));
        if (decided) await carriedOut(next);
        else assert.deepEqual(await found(next), { automations: [], triggers: [], migrated: false });
        await next.command(migrateAgendaJobs, 'j', { agendaJobs: [job] });
        await carriedOut(next);
        assert.deepEqual(await found(next), whole);
      });
    }
  }

  it('makes one automation when two nodes migrate it at once', async () => {
    const both = await Promise.all(
      [await node(), await node()].map((each, i) =>
        outcome(each.command(migrateAgendaJobs, `m${i}`, { agendaJobs: [job] })),
      ),
    );
    assert.ok(
      both.every((result) => typeof result === 'object'),
      JSON.stringify(both),
    );
    const third = await node();
    await carriedOut(third);
    assert.deepEqual(await found(third), whole);
  });

  it('and a new automation of its name both come to be, under two names', async () => {
    const [one, two] = [await node(), await node()];
    const [migrated, created] = await Promise.all([
      outcome(one.command(migrateAgendaJobs, 'm', { agendaJobs: [job] })),
      outcome(two.command(createAutomation, 'b'.repeat(24), { name: 'Audit' })),
    ]);
    // Whoever comes second is told; trying again, the migration takes the next name.
    if (typeof migrated !== 'object') await one.command(migrateAgendaJobs, 'n', { agendaJobs: [job] });
    await carriedOut(one);
    await one.catchUp();
    const { automations } = await found(one);
    assert.deepEqual(automations.sort(), typeof created === 'object' ? ['Audit', 'Audit (2)'] : ['Audit']);
  });
});
