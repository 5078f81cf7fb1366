import assert from 'node:assert/strict';
import type { LexRule } from '@automation-platform/configurations';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { engines } from '../../../src/southbound/engines/engines.ts';
import type { ComparisonRun, Renderer } from '../../../src/southbound/port.ts';

const most = 200_000;

/** Works that end with a fault: what is given, and what the fault says. */
const faults: readonly (readonly [name: string, run: Partial<ComparisonRun>, fault: object])[] = [
  ['a template that does not parse', { texts: ['a', 'b\n{% if %}'] }, { line: 2, text: 1 }],
  [
    'a template that uses another one',
    { texts: ['{% include "x" %}'] },
    { reason: "TemplateNotFound: There is no template 'x'", text: 0 },
  ],
  ['a text without end', { texts: ["{{ 'a' * 10**8 }}"] }, { text: 0 }],
  ['a loop without end', { texts: ['a;', '{% for i in range(10**12) %}{% endfor %}'] }, { text: 1 }],
  ['a bad expression', { texts: ['a;\nb {/(/};'] }, { line: 2, text: 0 }],
  ['an expression that is too large', { texts: ['a {/(a{999}b{999}){5}/}'] }, { line: 1, text: 0 }],
  ['a configuration that breaks off', { configuration: 'a {\n' }, { line: 1, text: null }],
];

describe('comparisons in the engines', () => {
  let engine: Renderer;
  const ofRun = (changes: Partial<ComparisonRun>): ComparisonRun => ({
    texts: ['host {{ name }};', 'key {{ sealed }};'],
    variables: { name: 'a', sealed: 'open sesame' },
    deviceType: 'juniper-junos',
    configuration: 'host a;',
    secrets: ['open sesame'],
    ...changes,
  });
  const compare = (runs: readonly ComparisonRun[]) =>
    engine.compare(runs, { account: 'one', signal: new AbortController().signal });
  const run = async (changes: Partial<ComparisonRun>) => (await compare([ofRun(changes)]))[0]!;
  before(() => {
    engine = engines();
  });
  after(() => engine.close());

  it('render the texts, merge them and compare, and show no secret', async () => {
    const outcome = await run({});
    assert.ok('totals' in outcome);
    assert.deepEqual(outcome.totals, { errors: 0, warnings: 1, infos: 0, passes: 1 });
    assert.equal(outcome.score, 50);
    assert.ok(!JSON.stringify(outcome).includes('sesame'), JSON.stringify(outcome));
  });

  it('are made together, each with its own outcome', async () => {
    const outcomes = await compare([ofRun({}), ofRun({ configuration: 'a {\n' }), ofRun({ configuration: 'host b;' })]);
    assert.deepEqual(
      outcomes.map((outcome) => ('totals' in outcome ? outcome.totals.passes : outcome.line)),
      [1, 1, 0],
    );
  });

  for (const [name, changes, fault] of faults)
    it(`say why there is none: ${name}`, async () => {
      const outcome = await run({ deviceType: 'juniper-junos', ...changes });
      assert.deepEqual({ ...outcome, ...fault }, outcome);
      assert.ok('reason' in outcome);
    });

  it('show no secret when they say why', async () => {
    const outcome = JSON.stringify(await run({ texts: ['a {/({{ sealed }}/};'] }));
    assert.match(outcome, /missing closing/);
    assert.ok(!outcome.includes('sesame'), outcome);
  });

  it('cut texts by the rules of a parser, within bounds', async () => {
    const cut = (lexRules: readonly LexRule[], configuration: string) =>
      run({ deviceType: 'x', parser: { template: 'f5-bigip', lexRules }, texts: ['{d/}b c'], configuration });
    const words: LexRule = ['[^\\s;]+', 'word'];
    const totals = async (lexRules: readonly LexRule[]) => {
      const outcome = await cut(lexRules, 'a;b  c;');
      return 'totals' in outcome && [outcome.totals.warnings, outcome.totals.passes];
    };
    assert.deepEqual(await totals([words, [';', 'end_line']]), [1, 0]);
    assert.deepEqual(await totals([words]), [0, 1]);
    assert.ok('totals' in (await cut([['(a+)+$', 'word']], `${'a'.repeat(500)}!`)));
    await assert.rejects(cut([['(a|b|ab)+x', 'comment']], 'ab'.repeat(most)), /takes longer than 1000 ms/);
  });

  it('are cut off when they take too long, and the next one is carried out', async () => {
    const texts = [Array.from({ length: 199 }, (_, i) => `{/a${i}/} x`).join('\n')];
    const configuration = Array.from({ length: most }, (_, i) => `line ${i}`).join('\n');
    await assert.rejects(run({ deviceType: 'x', texts, configuration }), (error) => {
      assert.ok(error instanceof RequestError);
      assert.match(error.message, /The comparison fails: It takes longer than 1000 ms/);
      return true;
    });
    assert.ok('totals' in (await run({ deviceType: 'x', texts: ['line 7'], configuration })));
  });
});
