import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dataTasks, isInstant } from '../../../src/domain/operations-manager/workflows/dataTasks.ts';
import { knownTasks } from '../../../src/domain/operations-manager/workflows/taskCatalog.ts';
import { readTask } from '../../../src/domain/operations-manager/workflows/workflows.ts';
import { publishedAdapters, publishedTasks } from '../../support/publishedTasks.ts';

const page = new URL('../../../docs/workflow-tasks.md', import.meta.url);

/** The party that carries out a task, as the engine of workflows decides it. */
const carrierOf = (app: string, name: string, type: string): string => {
  const task = readTask('a', { app, name, type, location: 'Application' }, isInstant);
  const carriers: Readonly<Record<string, string>> = {
    instant: 'the service, at once',
    timed: 'the service, when its time has come',
    forEach: 'the service, item by item',
    childJob: 'the service, by other jobs',
    platform: 'a node of the service',
    people: 'people',
    worker: 'workers',
  };
  return carriers[task.kind] ?? assert.fail(`Nobody carries out ${app}.${name}`);
};

const rowOf = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const pageNow = (): string => {
  const tasks = publishedTasks.map(({ app, name, workflows, manual }) => ({
    task: `${app}.${name}`,
    workflows,
    carrier: carrierOf(app, name, manual ? 'manual' : 'automatic'),
  }));
  const carriers = [...new Set(tasks.map(({ carrier }) => carrier))].sort();
  return [
    '# Tasks of published workflows',
    '',
    '`npm run golden` makes this page from the code. It has every task that workflows of public repositories use, and who carries',
    'it out here ([workflows](workflows.md)). Workflows are counted once for each content. `<brand>` is the name of another product.',
    '',
    rowOf('carried out by', 'tasks'),
    '|---|---|',
    ...carriers.map((carrier) => rowOf(carrier, tasks.filter((one) => one.carrier === carrier).length)),
    '',
    '## Tasks of applications',
    '',
    rowOf('task', 'workflows', 'carried out by'),
    '|---|---|---|',
    ...tasks.map(({ task, workflows, carrier }) => rowOf(`\`${task}\``, workflows, carrier)),
    '',
    '## Tasks of adapters',
    '',
    'Workers carry out all tasks of adapters.',
    '',
    rowOf('adapter', 'workflows', 'different tasks'),
    '|---|---|---|',
    ...publishedAdapters.map(({ app, workflows, tasks: different }) => rowOf(app, workflows, different)),
    '',
  ].join('\n');
};

describe('docs/workflow-tasks.md', () => {
  it('says of every published task who carries it out, as the code does', () => {
    const now = pageNow();
    if (process.env.UPDATE_GOLDEN === '1') writeFileSync(page, now);
    const kept = existsSync(page) ? readFileSync(page, 'utf8') : '';
    assert.equal(kept, now, 'Run npm run golden and read the difference');
  });
});

describe('the tasks that designers are told of', () => {
  it('are those that the service carries out, each once, and those of people', () => {
    const ids = knownTasks.map(({ app, name }) => `${app}.${name}`);
    assert.deepEqual(ids, [...new Set(ids)].sort());
    for (const { app, name, type } of knownTasks)
      assert.notEqual(carrierOf(app, name, type), 'workers', `${app}.${name}`);
    for (const { app, name, manual } of publishedTasks)
      if (!manual && carrierOf(app, name, 'automatic') !== 'workers')
        assert.ok(ids.includes(`${app}.${name}`), `${app}.${name} is not listed`);
    for (const name of [...Object.keys(dataTasks), 'push', 'pop', 'shift', 'modify'])
      assert.ok(ids.includes(`WorkFlowEngine.${name}`));
  });
});
