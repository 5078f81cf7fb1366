import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type TSchema, Type } from 'typebox';
import { type Fault, RequestError } from '../../../src/domain/engine/requestError.ts';
import { listQueryParser, queryParser } from '../../../src/http/engine/query.ts';
import type { Where } from '../../../src/projections/engine/port.ts';

const list = { sorts: ['name', 'created'], filters: ['name', 'provenance', 'deprecated', 'status'] };
const ofList = listQueryParser({}, list);

const faultsOf = (parse: (querystring: string) => unknown, querystring: string): readonly Fault[] => {
  try {
    parse(querystring);
  } catch (error) {
    assert.ok(error instanceof RequestError, String(error));
    assert.equal(error.code, 'invalid');
    return error.faults;
  }
  return [];
};
const refused = (
  querystring: string,
  path: string,
  words: RegExp,
  parse: (querystring: string) => unknown = ofList,
) => {
  const [fault] = faultsOf(parse, querystring);
  assert.ok(fault, `accepted: ${querystring.slice(0, 100)}`);
  assert.equal(fault.path, path);
  assert.match(fault.message, words);
};

describe('query parameters that a row declares', () => {
  const parameters: Record<string, TSchema> = {
    expand: Type.Literal('platformGroups'),
    count: Type.Integer({ minimum: 1, maximum: 100, default: 5 }),
    ratio: Type.Number(),
    dry: Type.Boolean(),
    verb: Type.Union([Type.Literal('GET'), Type.Literal('PUT')]),
    text: Type.String({ maxLength: 300 }),
  };
  const parse = queryParser(parameters);

  it('come converted as their schemas say', () => {
    assert.deepEqual(parse('expand=platformGroups&count=7&ratio=-0.5&dry=true&verb=PUT&text=true'), {
      values: { expand: 'platformGroups', count: 7, ratio: -0.5, dry: true, verb: 'PUT', text: 'true' },
    });
  });

  it('have their defaults, and are left out without one', () => {
    assert.deepEqual(parse(''), { values: { count: 5 } });
    assert.deepEqual(parse('&&'), { values: { count: 5 } });
  });

  it('are decoded: percent-encoding, and + for a space', () => {
    assert.deepEqual(parse('te%78t=a+b%2Bc%20%C3%BC%F0%9F%98%80').values.text, 'a b+c ü😀');
    assert.deepEqual(parse('text=a=b').values.text, 'a=b');
    assert.deepEqual(parse('text').values.text, '');
  });

  it('are refused when unknown, by name', () => {
    for (const name of ['asOf', 'skip', 'Expand', 'constructor', '__proto__', 'multiEquals[name]'])
      refused(`${name}=1`, name, /no query parameter/, parse);
    assert.deepEqual(
      faultsOf(parse, 'a=1&b=2').map(({ path }) => path),
      ['a', 'b'],
    );
  });

  it('are refused when given twice', () => refused('dry=true&dry=true', 'dry', /more than once/, parse));

  it('are refused when they do not fit', () => {
    refused('count=0', 'count', />= 1/, parse);
    for (const wrong of ['1.5', 'x', '', '1e2', '0x10', ' 1', '%2B1', '007', '99999999999999999999', 'NaN', 'Infinity'])
      refused(`count=${wrong}`, 'count', /integer/, parse);
    for (const wrong of ['TRUE', '1', '', 'null']) refused(`dry=${wrong}`, 'dry', /boolean/, parse);
    refused('expand=x', 'expand', /platformGroups/, parse);
    refused('verb=get', 'verb', /"GET", "PUT"/, parse);
    refused(`text=${'x'.repeat(10_000)}`, 'text', /300 characters/, parse);
  });

  it('are refused with malformed percent-encoding, bytes that are no UTF-8, control characters', () => {
    for (const text of [
      '%',
      '%zz',
      '%2',
      'a%',
      '%ff',
      '%c3',
      '%ed%a0%80',
      '%00',
      '%0d%0aSet-Cookie:%20x',
      '%7f',
      '\u0001',
      'ü',
    ])
      refused(`text=${text}`, 'text', /percent-encoding/, parse);
    refused('%ff=1', 'query', /percent-encoding/, parse);
  });

  it('cut absurd names in the answer', () => {
    assert.ok(faultsOf(parse, `${'k'.repeat(10_000)}=1`)[0]!.path!.length <= 256);
    assert.equal(faultsOf(parse, Array.from({ length: 1000 }, (_, i) => `k${i}=1`).join('&')).length, 20);
  });
});

describe('the dialect of lists', () => {
  it('begins at the start, with 25 documents, by the first sort field', () => {
    assert.deepEqual(ofList(''), { values: {}, page: { skip: 0, limit: 25, sort: 'name', order: 1 } });
    assert.deepEqual(listQueryParser({}, { ...list, order: -1 })('').page.order, -1);
  });

  it('takes skip, limit, sort and order', () => {
    assert.deepEqual(ofList('skip=1000000&limit=1000&sort=created&order=-1').page, {
      skip: 1000000,
      limit: 1000,
      sort: 'created',
      order: -1,
    });
  });

  it('refuses pages that cannot be', () => {
    for (const wrong of ['-1', '1.5', '', 'x', '1e3', '9007199254740993', '9'.repeat(400)])
      refused(`skip=${wrong}`, 'skip', /integer|>= 0/);
    for (const wrong of ['-1', '0', '1001', '2.5', '', '9'.repeat(400)])
      refused(`limit=${wrong}`, 'limit', /integer|>= 1|<= 1000/);
    for (const wrong of ['id', '', 'Name']) refused(`sort=${wrong}`, 'sort', /"name", "created"/);
    for (const wrong of ['0', '2', 'asc', '', '-2', '+1']) refused(`order=${wrong}`, 'order', /1, -1/);
    refused('skip=1&skip=2', 'skip', /more than once/);
    refused('skip[]=1', 'skip[]', /no query parameter/);
  });

  const equals = (field: string, value: string): Where => ({ field, op: 'equals', value });
  const where = (querystring: string) => ofList(querystring).page!.where;

  it('takes filters in brackets: different fields AND, one field again OR', () => {
    assert.deepEqual(where('multiEquals[name]=x'), equals('name', 'x'));
    assert.deepEqual(where('multiEquals%5Bname%5D=x&multiEquals[provenance]=p&multiEquals[name]=y'), {
      all: [{ any: [equals('name', 'x'), equals('name', 'y')] }, equals('provenance', 'p')],
    });
  });

  it('takes filters in JSON: fields of an object AND, objects OR', () => {
    const json = (...values: unknown[]) =>
      where(values.map((value) => `multiEquals=${encodeURIComponent(JSON.stringify(value))}`).join('&'));
    assert.deepEqual(json({ name: 'x' }), equals('name', 'x'));
    assert.deepEqual(json({ name: 'x', provenance: 'p' }), { all: [equals('name', 'x'), equals('provenance', 'p')] });
    const either = { any: [equals('name', 'x'), { all: [equals('name', 'y'), equals('provenance', 'p')] }] };
    assert.deepEqual(json({ name: 'x' }, { name: 'y', provenance: 'p' }), either);
    assert.deepEqual(json([{ name: 'x' }, { name: 'y', provenance: 'p' }]), either);
    assert.deepEqual(json({}), undefined);
    assert.deepEqual(json({ name: 'x' }, {}), undefined);
  });

  it('takes different parameters as AND, each in its own form', () => {
    assert.deepEqual(where('multiContains[name]=b&multiStartsWith={"name":"a"}&multiEquals[provenance]=p'), {
      all: [
        equals('provenance', 'p'),
        { field: 'name', op: 'startsWith', value: 'a' },
        { field: 'name', op: 'contains', value: 'b' },
      ],
    });
  });

  it('takes deprecated with multiEquals only, true or false', () => {
    assert.deepEqual(where('multiEquals[deprecated]=true'), equals('deprecated', 'true'));
    assert.deepEqual(where('multiEquals={"deprecated":false}'), equals('deprecated', 'false'));
    for (const wrong of ['multiEquals[deprecated]=1', 'multiEquals[deprecated]=', 'multiContains[deprecated]=true'])
      refused(wrong, wrong.replace(/=.*/, ''), /deprecated/);
    for (const wrong of [
      'multiStartsWith={"deprecated":true}',
      'multiEquals={"deprecated":["true"]}',
      'multiEquals={"deprecated":null}',
    ])
      refused(wrong, wrong.replace(/=.*/, '[deprecated]'), /deprecated/);
  });

  it('refuses brackets and JSON of one parameter together', () =>
    refused('multiEquals[name]=x&multiEquals={"name":"x"}', 'multiEquals', /not both/));

  it('refuses fields that are no filters, naming those that are', () => {
    refused('multiEquals[colour]=red', 'multiEquals[colour]', /name, provenance, deprecated, status/);
    refused('multiContains={"colour":"red"}', 'multiContains[colour]', /name, provenance/);
    for (const field of ['', '__proto__', 'constructor', 'name][x', '$where'])
      refused(`multiEquals[${field}]=x`, `multiEquals[${field}]`, /no filter/);
  });

  it('refuses JSON that is not an object of texts', () => {
    for (const wrong of [
      '',
      'x',
      '1',
      'null',
      '"name"',
      '[]',
      '[1]',
      '[[{"name":"x"}]]',
      '{"name":"x"',
      '{"name":"x","name":"y"}',
      '{"__proto__":"x"}',
      '['.repeat(65) + ']'.repeat(65),
    ])
      refused(`multiEquals=${encodeURIComponent(wrong)}`, 'multiEquals', /JSON object/);
    for (const wrong of ['{"name":1}', '{"name":null}', '{"name":["x"]}', '{"name":{}}'])
      refused(`multiEquals=${encodeURIComponent(wrong)}`, 'multiEquals[name]', /text/);
  });

  it('refuses values and numbers of conditions that only cost', () => {
    refused(`multiContains[name]=${'x'.repeat(10_000)}`, 'multiContains[name]', /1000 characters/);
    refused(
      Array.from({ length: 101 }, () => 'multiContains[name]=x').join('&'),
      'multiContains[name]',
      /100 conditions/,
    );
  });

  it('narrows the list by a declared parameter that is a filter field', () => {
    const parse = listQueryParser({ status: Type.Enum(['running', 'complete']), expand: Type.String() }, list);
    assert.deepEqual(parse('status=running&expand=x&multiEquals[name]=n'), {
      values: { status: 'running', expand: 'x' },
      page: {
        skip: 0,
        limit: 25,
        sort: 'name',
        order: 1,
        where: { all: [equals('name', 'n'), equals('status', 'running')] },
      },
    });
    refused('status=lost', 'status', /"running", "complete"/, parse);
  });

  it('finds the same documents whichever form a filter has', () => {
    const encoded = (pairs: readonly (readonly [string, string])[]) =>
      new URLSearchParams(pairs as [string, string][]).toString();
    type Doc = { name: string; provenance: string };
    const word = fc.constantFrom('a', 'b', 'ab', 'B', 'a&b=c', 'ü+%', '[x]');
    const doc = fc.record({ name: word, provenance: word });
    const filters = fc.constantFrom('multiEquals', 'multiStartsWith', 'multiContains');
    const holds = (filter: Where | undefined, found: Doc): boolean => {
      if (!filter) return true;
      if ('all' in filter) return filter.all.every((part) => holds(part, found));
      if ('any' in filter) return filter.any.some((part) => holds(part, found));
      return compare(filter.op, found[filter.field as keyof Doc], filter.value);
    };
    const compare = (op: string, value: string, wanted: string): boolean =>
      op === 'equals'
        ? value === wanted
        : op === 'startsWith'
          ? value.toLowerCase().startsWith(wanted.toLowerCase())
          : value.toLowerCase().includes(wanted.toLowerCase());
    fc.assert(
      fc.property(
        filters,
        fc.array(word, { minLength: 1, maxLength: 3 }),
        fc.array(word, { maxLength: 3 }),
        fc.array(doc, { minLength: 1 }),
        (filter, names, provenances, docs) => {
          const brackets = encoded([
            ...names.map((name) => [`${filter}[name]`, name] as const),
            ...provenances.map((name) => [`${filter}[provenance]`, name] as const),
          ]);
          // The same in JSON: every pair of a name and a provenance is an alternative.
          const pairs = names.flatMap((name) =>
            provenances.length > 0 ? provenances.map((provenance) => ({ name, provenance })) : [{ name }],
          );
          const json = encoded(pairs.map((pair) => [filter, JSON.stringify(pair)]));
          const op = { multiEquals: 'equals', multiStartsWith: 'startsWith', multiContains: 'contains' }[filter]!;
          for (const found of docs) {
            const expected =
              names.some((name) => compare(op, found.name, name)) &&
              (provenances.length === 0 || provenances.some((provenance) => compare(op, found.provenance, provenance)));
            assert.equal(holds(where(brackets), found), expected, brackets);
            assert.equal(holds(where(json), found), expected, json);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
