import assert from 'node:assert/strict';
import { Type } from 'typebox';
import { commandsOf, type Tools } from '../../../src/commands/engine/define.ts';
import { createForm, updateForm } from '../../../src/commands/json-forms/forms.ts';
import { workflowCommands } from '../../../src/commands/operations-manager/workflows.ts';
import { importPrebuilt, prebuiltId } from '../../../src/commands/prebuilts/prebuilts.ts';
import { vlanRollout } from '../../../src/demo/prebuilts.ts';
import type { Bundle, PrebuiltDocument } from '../../../src/domain/prebuilts/prebuiltSchemas.ts';
import { prebuilt } from '../../../src/domain/prebuilts/prebuilts.ts';
import { trees } from '../../../src/projections/configuration-manager/trees.ts';
import type { Collection } from '../../../src/projections/engine/define.ts';
import { forms } from '../../../src/projections/json-forms/forms.ts';
import { analyticTemplates } from '../../../src/projections/mop/analyticTemplates.ts';
import { commandTemplates } from '../../../src/projections/mop/commandTemplates.ts';
import { automations } from '../../../src/projections/operations-manager/automations.ts';
import { triggers } from '../../../src/projections/operations-manager/triggers.ts';
import { workflows } from '../../../src/projections/operations-manager/workflows.ts';
import { templates } from '../../../src/projections/template-builder/templates.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { openLog, startNode, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';
import { workflow } from '../../support/workflowSamples.ts';
import { outcome } from '../../support/writer.ts';

describe('The install of a package', function () {
  this.timeout(300_000);
  let log: Awaited<ReturnType<typeof openLog>>;
  const nodes: TestNode[] = [];
  const node = async (store: EventStore = log.store, reacting = true): Promise<TestNode> => {
    const started = await startNode(store, { reacting });
    nodes.push(started);
    await started.catchUp();
    return started;
  };
  const install = ({ command }: TestNode, whole: PrebuiltDocument, overwrite = false) =>
    command(importPrebuilt, prebuiltId(whole.metadata.name), { prebuilt: whole, overwrite, strict: true });
  const packed = (name: string, bundles: readonly Bundle[]): PrebuiltDocument => ({
    ...vlanRollout,
    metadata: { ...vlanRollout.metadata, name },
    bundles,
  });
  const aForm = (name: string, more: object = {}): Bundle => ({ type: 'forms', data: { name, ...more } });
  const stateOf = ({ tools }: TestNode, name: string) => tools.state(prebuilt, prebuiltId(name));
  const namesIn = async <Doc extends { readonly name: string }>(collection: Collection<Doc>, { query }: Tools) =>
    (await query(collection)).map(({ name }) => `${collection.collection}: ${name}`);
  const names = async ({ tools }: TestNode): Promise<readonly string[]> =>
    (
      await Promise.all([
        namesIn(forms, tools),
        namesIn(templates, tools),
        namesIn(commandTemplates, tools),
        namesIn(analyticTemplates, tools),
        namesIn(trees, tools),
        namesIn(automations, tools),
        namesIn(triggers, tools),
      ])
    ).flat();
  /** What became of it, however often it has to be tried again. */
  const insist = async (work: () => Promise<unknown>): Promise<unknown> => {
    for (;;) {
      const result = await outcome(work());
      if (result !== 'unavailable') return result;
    }
  };
  beforeEach(async () => {
    log = await openLog();
  });
  afterEach(async () => {
    const stopped = nodes.splice(0).map((each) => each.stop());
    await Promise.all(stopped);
    await log.close();
  });

  it('and a new form of one of its names: one of the two goes through, whole', async () => {
    const [one, two] = [await node(), await node()];
    for (let round = 0; round < 10; round++) {
      const both = await Promise.all([
        insist(() => install(one, packed(`p${round}`, [aForm(`A ${round}`), aForm(`B ${round}`)]))),
        insist(() =>
          two.command(createForm, `${round}`.padStart(24, '0'), { name: `B ${round}`, description: 'other' }),
        ),
      ]);
      assert.equal(both.filter((result) => result === 'conflict').length, 1, `round ${round}: ${both.map(String)}`);
      await Promise.all([one.catchUp(), two.catchUp()]);
      assert.equal(
        (await names(one)).filter((name) => name.endsWith(` ${round}`)).length,
        both[0] === 'conflict' ? 1 : 2,
      );
    }
  });

  it('and that of another with the same names: one of the two goes through, whole', async () => {
    const [one, two] = [await node(), await node()];
    for (let round = 0; round < 10; round++) {
      const wanted = (who: string) =>
        packed(`${who}${round}`, [
          aForm(`A ${round}`, { description: who }),
          aForm(`B ${round}`, { description: who }),
        ]);
      const both = await Promise.all([
        insist(() => install(one, wanted('x'))),
        insist(() => install(two, wanted('y'))),
      ]);
      assert.equal(both.filter((result) => result === 'conflict').length, 1, `round ${round}: ${both.map(String)}`);
      await Promise.all([one.catchUp(), two.catchUp()]);
      const winner = both[0] === 'conflict' ? 'y' : 'x';
      assert.deepEqual(
        (await one.tools.query(forms))
          .filter(({ name }) => name.endsWith(` ${round}`))
          .map(({ description }) => description),
        [winner, winner],
      );
    }
  });

  it('keeps the names that a second install of the same package gives, before it is carried out', async () => {
    const id = 'a'.repeat(24);
    const first = await node();
    await install(first, packed('p', [aForm('F', { _id: id })]));
    await nodes.pop()!.stop();
    const dead = await node(log.store, false);
    await install(dead, packed('p', [aForm('G', { _id: id })]), true);
    const other = await node(log.store, false);
    assert.equal(
      await outcome(other.command(createForm, 'b'.repeat(24), { name: 'G' })),
      'conflict',
      'the new name is promised',
    );
    assert.equal(
      await outcome(other.command(createForm, 'c'.repeat(24), { name: 'F' })),
      'conflict',
      'the old one is still borne',
    );
    await node();
    await until(async () => !(await stateOf(other, 'p')).pending, 'all parts');
    await other.catchUp();
    assert.deepEqual(await names(other), ['forms: G']);
    await other.command(createForm, 'c'.repeat(24), { name: 'F' });
    await other.command(updateForm, id, { name: 'H' });
    await other.command(createForm, 'd'.repeat(24), { name: 'G' });
  });

  it('with workflows that an earlier version kept takes these in when it comes again, and leaves all else as it is', async () => {
    const aWorkflow = (name: string): Bundle => ({
      type: 'workflow',
      data: { ...workflow({}, ['start -> end']), name },
    });
    const one = await node();
    const kept = { type: 'integrationModel', data: { name: 'I' } };
    const whole = packed('waits', [aWorkflow('Taken'), aForm('A'), kept, aWorkflow('Free')]);
    await install(one, whole);
    const { imported } = await stateOf(one, 'waits');
    assert.ok(imported);
    for (const name of ['Taken', 'Free'])
      await one.command(workflowCommands.remove, (await one.tools.find(workflows, name)) ?? assert.fail(name));
    const bundles = [0, 2, 3].map((index) => whole.bundles[index]!);
    const earlier = {
      ...imported,
      parts: [],
      installed: imported.installed.filter(({ type }) => type === 'forms'),
      kept: bundles.map(({ type, data }) => ({ type, name: String(data.name) })),
    };
    const asEarlier = commandsOf(prebuilt)({
      name: 'importPrebuilt',
      input: Type.Object({}),
      on: 'any',
      decide: () => [
        { topic: 'prebuiltImported', data: earlier },
        { topic: 'prebuiltInstalled', data: {} },
      ],
    });
    await one.command(asEarlier, prebuiltId('waits'), {});
    await one.catchUp();
    const form = (await one.tools.find(forms, 'A')) ?? assert.fail();
    await one.command(updateForm, form, { description: 'Changed since' });
    await one.command(workflowCommands.create, 'e'.repeat(24), { ...aWorkflow('Taken').data, description: 'Other' });
    const again = () =>
      one.command(importPrebuilt, prebuiltId('waits'), { prebuilt: whole, overwrite: false, strict: false });
    await again();
    await until(async () => !(await stateOf(one, 'waits')).pending, 'all parts');
    await one.catchUp();
    const now = (await stateOf(one, 'waits')).imported ?? assert.fail();
    assert.deepEqual(
      now.kept.map(({ type }) => type),
      ['integrationModel'],
    );
    assert.deepEqual(
      now.installed.map(({ type, name }) => [type, name]),
      [
        ['forms', 'A'],
        ['workflow', 'Free'],
      ],
    );
    assert.deepEqual(
      now.refused?.map(({ type, name }) => [type, name]),
      [['workflow', 'Taken']],
    );
    assert.equal(now.prebuilt.bundles.length, 3);
    assert.equal((await one.tools.query(forms))[0]?.description, 'Changed since');
    assert.deepEqual((await one.tools.query(workflows)).map(({ name }) => name).sort(), ['Free', 'Taken']);
    assert.equal((await one.tools.shown(workflows, 'e'.repeat(24)))?.description, 'Other');
  });
});
