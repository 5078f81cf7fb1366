import assert from 'node:assert/strict';
import fc from 'fast-check';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { seed } from '../../support/sample.ts';
import { step, wire } from '../../support/transformationSamples.ts';
import { usePeople, useService } from '../../support/useService.ts';

const mask = '********';

const site = {
  name: 'Site of a ticket',
  incoming: [{ $id: 'ticket', type: 'object', default: { site: 'Bonn' } }],
  outgoing: [{ $id: 'site', type: 'string' }],
  steps: [
    step(1, 'String.toUpperCase'),
    wire('incoming ticket /site', 'method 1 /args/0/value'),
    wire('method 1 /return', 'outgoing site'),
  ],
  functions: [],
};

type Json = any; // documents are any JSON

const odd = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<Json>('a', '__proto__', 'constructor', 1, null, {}, [], '#/1[0]', 'x'.repeat(70_000)),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
/** Mostly one of these, else any JSON. */
const mostly = (...values: readonly Json[]) =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: odd });
const pointer = mostly('', '/a', '/args/0/value', '/args/1/value/x', '/return', '/__proto__', '/-1');
const end = fc.record({
  location: mostly('incoming', 'outgoing', 'method', 'declaration', 'template', 'function', 'context'),
  name: mostly('a', 'b', 1, 2, 3, '__proto__'),
  ptr: pointer,
});
const oddStep = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('assign'), from: end, to: end, context: mostly('#', '#/1[0]') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      id: mostly(1, 2, 3),
      type: mostly('method', 'declaration', 'template', 'context'),
      library: mostly('String', 'Array', 'Object', 'Math', 'RegExp', 'JSON'),
      method: mostly('concat', 'map', 'reduce', 'keys', 'test', 'parse', 'fill', 'new Array', 'toString'),
      args: mostly([], [{ value: 'a' }], [{ value: 1e9 }, { value: '(a+)+$' }], [{ value: 'f' }]),
    }),
  },
  { weight: 1, arbitrary: odd },
);
const place = fc.oneof(
  { weight: 9, arbitrary: fc.record({ $id: mostly('a', 'b'), type: mostly('string', 'array') }) },
  { weight: 1, arbitrary: odd },
);
const parts = {
  incoming: fc.array(place, { maxLength: 3 }),
  outgoing: fc.array(place, { maxLength: 3 }),
  steps: fc.array(oddStep, { maxLength: 8 }),
};
const oddFunction = fc.record({ id: mostly(1), name: mostly('f', 'a'), ...parts, functions: mostly([]) });
const oddTransformation = fc.record({ ...parts, functions: fc.array(oddFunction, { maxLength: 2 }) });

describe('Transformations, over HTTP', () => {
  const path = '/template_builder/transformations';
  const service = useService();
  const some = usePeople(service);
  afterEach(() => assert.deepEqual(service.lines, []));
  const make = async (document: object) => ok(await service.ask('POST', path, document)).data;
  const run = (id: string, incoming: object, options = {}) =>
    service.ask('POST', `${path}/${id}/run`, { incoming, options });

  it('keep all members in their order, numbers as they are written; the import of an export changes nothing', async () => {
    const document =
      '{"view":{"x":1.0},"steps":[],"name":"@0123456789abcdef01234567: Kept","outgoing":[{"$id":"a","z":1,"10":2,"2":3}],' +
      '"incoming":[],"created":"yesterday","createdBy":{"username":"nobody"},"sla":12345678901234567890}';
    const bring = async (text: string) =>
      ok(await service.ask('PUT', path, `{"transformations":[${text}]}`)).data[0].data;
    const { _id, lastUpdated } = await bring(document);
    const { text } = await service.ask('GET', `${path}/${_id}/export`);
    assert.equal(text, document);
    assert.equal((await bring(text)).lastUpdated, lastUpdated);
  });

  it('of any form are kept or refused, and run or say why not', async function () {
    this.timeout(3_600_000);
    const count = process.env.SOAK_ROUNDS ? 2000 : 30;
    const places = { incoming: site.outgoing, outgoing: site.outgoing, functions: [] };
    const through = wire('incoming site', 'outgoing site');
    const runs = { ...places, steps: [through] };
    const fails = { ...places, steps: [step(1, 'String.none'), through] };
    const drawn = fc.sample(oddTransformation, { numRuns: count, seed });
    for (const [i, document] of [runs, fails, ...drawn].entries()) {
      const known = [200, 422][i];
      const named = { ...document, name: `Hostile ${i}` };
      const saved = await service.ask('POST', path, named);
      assert.ok(saved.status === 200 || (saved.status === 400 && !known), saved.text);
      const validated = await service.ask('POST', `${path}/validate`, named);
      assert.equal(validated.status, saved.status, validated.text);
      if (saved.status !== 200) continue;
      const { _id, faults } = saved.body.data;
      const { status, text } = await run(_id, { a: 'x', b: [1, 'y'] });
      assert.ok(status === 422 || (status === 200 && faults.length === 0), text);
      assert.equal(status, known ?? status, text);
    }
  });

  it('are shown with faults and warnings, and refused for their form', async () => {
    const steps = [step(1, 'Array.zip'), step(2, 'Math.random'), wire('method 1 /return', 'outgoing site')];
    const incoming = [{ $id: 'n', type: 'no type' }];
    const made = await make({ ...site, name: 'Faulty', incoming, steps });
    const told = (of: readonly { code: string; path: string }[]) => of.map(({ code, path }) => `${code} ${path}`);
    assert.deepEqual(told(made.faults), ['method /steps/0']);
    assert.deepEqual(told(made.warnings), ['unreachable /steps/1', 'schema /incoming/0']);
    const { faults, warnings } = ok(await some.reader('POST', `${path}/validate`, made)).data;
    assert.deepEqual({ faults, warnings }, { faults: made.faults, warnings: made.warnings });
    const [listed] = ok(await some.reader('GET', `${path}?multiEquals[name]=Faulty`)).data;
    assert.deepEqual([listed.steps, listed.faults, listed.description], [3, 1, '']);
    refused(await run('Faulty', {}), 422, /There is no method Array.zip \(\/steps\/0\)/);
    for (const [wrong, at] of [
      [{ incoming: {} }, '/incoming'],
      [{ outgoing: undefined }, '/outgoing'],
      [{ name: '' }, '/name'],
      [{ steps: Array(2001).fill({}) }, '/steps'],
      [{ functions: [{ functions: Array(200).fill({}) }] }, '/functions'],
      [{ functions: [{ incoming: Array(101).fill({}) }] }, '/incoming'],
      [{ description: 'x'.repeat(1024 * 1024) }, ''],
    ] as const) {
      const answer = await service.ask('POST', path, { ...site, ...wrong });
      refused(answer, 400);
      assert.equal(answer.body.metadata?.errors?.[0]?.path ?? '', at);
    }
  });

  it('run: inputs are checked if asked for, a missing one takes its default, errors name the step', async () => {
    const { _id } = await make(site);
    assert.deepEqual((await run(_id, { ticket: { site: 'Trier' } })).body, { outgoing: { site: 'TRIER' } });
    assert.deepEqual((await run('Site%20of%20a%20ticket', {}, { revertToDefaultValue: true })).body, {
      outgoing: { site: 'BONN' },
    });
    const both = { revertToDefaultValue: true, validateIncoming: true };
    assert.deepEqual((await run(_id, {}, both)).body, { outgoing: { site: 'BONN' } });
    refused(await run(_id, { ticket: 7 }, both), 422, /\/incoming\/ticket must be object/);
    refused(await run(_id, {}, { validateIncoming: true }), 422, /\/incoming\/ticket must be object/);
    refused(await run(_id, { ticket: { site: [] } }), 422, /Step 1 \(String.toUpperCase\): /);
    refused(await run('none', {}), 404);
    ok(await some.reader('POST', `${path}/${_id}/run`, { incoming: { ticket: { site: 'x' } } }));
  });

  it('mask what stands under a name of a secret, and print none', async () => {
    const incoming = [
      { $id: 'token', type: 'string', default: 'in-the-clear' },
      { $id: 'login', properties: { password: { type: 'string', default: 'in-the-clear' } } },
    ];
    const steps = [
      step(1, 'Object.getProperty', [{ apiKey: 'in-the-clear' }, 'apiKey']),
      step(2, 'String.toUpperCase'),
      wire('method 1 /return', 'outgoing site'),
      wire('incoming token', 'outgoing token'),
    ];
    const outgoing = [{ $id: 'site' }, { $id: 'token' }];
    const made = await make({ ...site, name: 'Secretive', incoming, outgoing, steps });
    assert.equal(made.steps[0].args[0].apiKey, mask);
    assert.equal(made.incoming[0].default, mask);
    assert.equal(made.incoming[1].properties.password.default, mask);
    const replaced = ok(await service.ask('PUT', `${path}/Secretive`, made)).data;
    assert.equal(replaced.lastUpdated, made.lastUpdated);
    const moved = await run('Secretive', {}, { revertToDefaultValue: true });
    assert.deepEqual(moved.body, { outgoing: { site: mask, token: mask } });
    const looks = [...steps.slice(0, 2), wire('method 1 /return', 'method 2 /args/0/value')];
    ok(
      await service.ask('PUT', `${path}/Secretive`, {
        ...made,
        steps: [...looks, wire('method 2 /return', 'outgoing site')],
      }),
    );
    refused(await run('Secretive', {}), 422, /Step 2 .* not looked at/);
  });

  it('are restored, and shown as they were', async () => {
    const { _id } = await make({ ...site, name: 'Gone' });
    const position = await positionOf(service);
    ok(await service.ask('DELETE', `${path}/Gone`));
    refused(await service.ask('GET', `${path}/${_id}`), 404);
    assert.equal(ok(await service.ask('GET', `${path}/${_id}?asOf=${position}`)).data.name, 'Gone');
    ok(await service.ask('POST', '/audit/restore', { kind: 'transformation', id: _id, position }));
    assert.deepEqual((await run(_id, { ticket: { site: 'x' } })).body, { outgoing: { site: 'X' } });
  });
});
