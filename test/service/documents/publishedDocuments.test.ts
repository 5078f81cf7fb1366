import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exactText, exactValue, isObject, type Members } from '@automation-platform/json';
import { ok } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

const folder = process.env.TEST_PUBLISHED_DOCUMENTS ?? '';

const filesOf = (kind: string): readonly string[] => {
  const inside = join(folder, kind);
  if (folder === '' || !existsSync(inside)) return [];
  return readdirSync(inside).filter((name) => name.endsWith('.json'));
};

const read = (kind: string, file: string): Members =>
  exactValue(readFileSync(join(folder, kind, file), 'utf8').replace(/^\ufeff/, '')) as Members;

type Json = any; // documents and answers are any JSON

const formatted: Readonly<Record<string, string>> = {
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  email: 'a@example.net',
  uri: 'https://example.net',
  hostname: 'example.net',
  date: '2026-01-01',
  time: '12:00:00Z',
  'date-time': '2026-01-01T12:00:00Z',
};

/** A value that fits a schema, as far as its types and required members say, or its default and its examples. */
const valueFor = (schema: Json, sampled: boolean): Json => {
  if (!isObject(schema)) return 'text';
  const { type, properties, required, items, minItems = 0 } = schema as Json;
  const [sample = schema.default] = Array.isArray(schema.examples) ? schema.examples : [];
  if (sampled && sample !== undefined && sample !== null) return sample;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const [first] = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((one) => (Array.isArray(one) ? one : []));
  if (type === undefined && first) return valueFor(first, sampled);
  const kind = Array.isArray(type) ? type[0] : type;
  if (kind === 'object' || properties) {
    const needed: readonly string[] = Array.isArray(required) ? required : [];
    return Object.fromEntries(
      needed
        .filter((name) => name !== '_id' && name !== 'initiator')
        .map((name) => [name, valueFor(properties?.[name], sampled)]),
    );
  }
  if (kind === 'array') return Array.from({ length: minItems }, () => valueFor(items, sampled));
  const { minimum = 1, minLength = 0, format } = schema as Json;
  if (format !== undefined) return formatted[format] ?? 'text';
  return (
    { number: minimum, integer: minimum, boolean: true, null: null }[kind as string] ?? 'text'.padEnd(minLength, 't')
  );
};

/** The workflow with workers in the place of all that the engine carries out but loops, which have one turn. */
const withStandIns = (document: Json): Json => {
  const tasks = Object.entries<Json>(JSON.parse(JSON.stringify(document.tasks))).map(([id, task]) => {
    const stays = task.type === 'manual' || task.name === 'childJob' || id.startsWith('workflow_');
    if (task.name === 'forEach') return [id, { ...task, variables: { incoming: { data_array: ['one'] } } }];
    return [id, stays ? task : { ...task, app: 'StandIn', location: 'Application' }];
  });
  return { name: `Stand-ins ${standIns++}`, tasks: Object.fromEntries(tasks), transitions: document.transitions };
};
let standIns = 0;

/**
 * Workflows and transformations that others have published. TEST_PUBLISHED_DOCUMENTS names a folder with the folders
 * `workflows` and `transformations`, which have a document in each file; no two have the same content.
 */
describe('published workflows and transformations', function () {
  this.timeout(3_600_000);
  const service = useService();
  const transformations = filesOf('transformations');
  const workflows = filesOf('workflows');
  before(function () {
    if (transformations.length + workflows.length === 0) this.skip();
  });

  /** The export of a document after its import under a name of its own, and what the service finds in it. */
  const bring = async (list: string, member: string, document: Members, name: string) => {
    const written = exactText({ ...document, name });
    const answer = ok(await service.ask('PUT', list, `{${JSON.stringify(member)}:[${written}],"overwrite":true}`));
    const { success, message, data } = answer.data[0] ?? {};
    assert.ok(success !== false && data, message ?? JSON.stringify(answer));
    const { text } = await service.ask('GET', `${list}/${data._id}/export`);
    return {
      id: data._id as string,
      written,
      text,
      findings: ok(await service.ask('GET', `${list}/${data._id}`)).data,
    };
  };

  const masked = /"\*{8}"/;
  const same = ({ text, written }: { readonly text: string; readonly written: string }): void => {
    // Secrets are masked: all else must be equal.
    if (!masked.test(text)) assert.equal(exactText(exactValue(text)), written);
    else assert.equal(exactText(exactValue(text)).split('"********"').length > 1, true);
  };

  it('transformations come in, go out equal, and plan without a fault', async () => {
    const bad: string[] = [];
    const ids = new Map<string, unknown>();
    for (const file of transformations) {
      const document = read('transformations', file);
      const name = String(document.name);
      if (!ids.has(name)) ids.set(name, document._id);
      // Workflows name transformations by their ids: two of one name stay two.
      const own = ids.get(name) === document._id ? name : `${name} ${document._id}`;
      const brought = await bring('/template_builder/transformations', 'transformations', document, own);
      same(brought);
      for (const { code, path, message } of brought.findings.faults) bad.push(`${file} ${code} ${path} ${message}`);
    }
    const others = bad.filter((line) => !/cannot be matched in linear time.*\(\?[<=!]/.test(line));
    assert.deepEqual(others, []);
  });

  it('workflows come in, go out equal, start and end', async () => {
    let whole = 0;
    const [unstarted, unfinished, polling]: [string[], string[], string[]] = [[], [], []];
    for (const file of workflows) {
      const document: Json = read('workflows', file);
      const { _id, ...rest } = document;
      const brought = await bring('/operations-manager/workflows', 'workflows', rest, `${document.name} ${file}`);
      same(brought);
      const { id, findings } = brought;
      const say = (list: string[], why: Json): void => {
        list.push(`${file} ${document.name}: ${JSON.stringify(why).slice(0, 400)}`);
      };
      const isAbsent = ({ message }: Json) => /^There is no transformation/.test(message);
      if (findings.faults.length > 0 && findings.faults.every(isAbsent)) continue;
      whole++;
      const schema = { type: 'object', ...JSON.parse(JSON.stringify(document.inputSchema ?? {})) };
      const start = (options: Json) => service.ask('POST', '/operations-manager/jobs/start', { workflow: id, options });
      // Some defaults do not fit their own schema.
      let variables = valueFor(schema, true);
      let started = await start({ variables });
      if (started.status !== 200) {
        variables = valueFor(schema, false);
        started = await start({ variables });
      }
      assert.ok(started.status === 200 || started.status === 422, `${file}: ${started.text}`);
      if (started.status !== 200) say(unstarted, started.body.metadata?.errors ?? started.body);
      else await service.ask('POST', '/operations-manager/jobs/cancel', { jobIds: [started.body.data._id] });
      if (started.status !== 200) continue;
      // As it is, and with a stand-in for all that computes: outputs that nobody gives lead few to their end.
      const stoodIn = ok(await service.ask('POST', '/operations-manager/workflows', withStandIns(document))).data;
      for (const one of [id, stoodIn._id]) {
        const run = await service.ask('POST', `/operations-manager/workflows/${one}/simulate`, { variables });
        assert.ok(run.status === 200 || run.status === 422, `${file}: ${run.text}`);
        const { status, error } = run.body.data ?? {};
        assert.ok(run.status === 422 || status === 'complete' || error !== null, `${file} hangs`);
        if (status === 'complete' || one === id) continue;
        say(/runs 10000 tasks at most/.test(run.text) ? polling : unfinished, error ?? run.body.message);
      }
    }
    const most = (goal: number) => whole * (1 - goal);
    assert.ok(unstarted.length <= most(360 / 364), `${unstarted.length} do not start:\n${unstarted.join('\n')}`);
    // With success alone some poll for ever: they end at the most runs of a job.
    assert.ok(polling.length <= whole / 10, `${polling.length} poll for ever:\n${polling.join('\n')}`);
    assert.ok(unfinished.length <= most(336 / 364), `${unfinished.length} do not end:\n${unfinished.join('\n')}`);
  });
});
