import assert from 'node:assert/strict';
import { runAnalyticTemplate } from '../../../src/commands/mop/runTemplates.ts';
import { searching } from '../../../src/commands/mop/searches.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { analyticRuleResult } from '../../../src/domain/mop/analyticEvaluation.ts';
import { type AnalyticRule, contentOf } from '../../../src/domain/mop/analyticTemplates.ts';

const before = `Neighbor        V    AS  Up/Down  PfxRcd
192.0.2.1       4 64500  3w2d     120
192.0.2.5       4 64501  1w0d     80
`;
const after = `Neighbor        V    AS  Up/Down  PfxRcd
192.0.2.5       4 64501  00:01:12 81
192.0.2.1       4 64500  00:02:00 Idle
`;
const says = (rule: AnalyticRule, pre = before, post = after) => {
  const { result, error } = analyticRuleResult(rule, pre, post, searching());
  return error ?? result;
};

describe('rules of analytic templates', () => {
  it('regex: compares what patterns take out before and after', () => {
    const prefixes = (evaluation: NonNullable<AnalyticRule['evaluation']>) =>
      says({ type: 'regex', preRegex: '/192.0.2.5 .* (\\d+)$/m', evaluation });
    assert.deepEqual(
      [prefixes('<'), prefixes('<='), prefixes('='), prefixes('!='), prefixes('>')],
      [true, true, false, true, false],
    );
    assert.equal(says({ preRegex: 'V +(\\w+)', postRegex: 'AS +(\\S+)', evaluation: '=' }), false);
    const holding = (postRegex: string) =>
      (['contains', '!contains'] as const).map((evaluation) => says({ preRegex: '192.0.2.1', postRegex, evaluation }));
    assert.deepEqual(
      [holding('192.0.2.1 .*'), holding('Idle')],
      [
        [true, false],
        [false, true],
      ],
    );
    assert.match(
      String(says({ preRegex: '192.0.2.1 .* (\\d+)$', flags: { multiline: true } })),
      /Nothing after matches/,
    );
  });
  it('regex without patterns: compares the answers themselves', () => {
    assert.deepEqual(
      [says({}), says({}, before, before), says({ evaluation: '!=' }, before, before)],
      [false, true, false],
    );
    assert.deepEqual(
      [says({}, 'x'.repeat(5000), 'x'.repeat(5000)), says({ evaluation: '!=' }, 'x'.repeat(5000), 'y'.repeat(5000))],
      [true, true],
    );
  });
  it('matches and !matches: both answers match, or neither', () => {
    assert.deepEqual(
      [
        says({ type: 'matches', preRegex: 'PfxRcd' }),
        says({ type: 'matches', preRegex: '120', postRegex: 'Idle' }),
        says({ type: 'matches', preRegex: 'Idle' }),
      ],
      [true, true, false],
    );
    assert.deepEqual(
      [says({ type: '!matches', preRegex: 'Active' }), says({ type: '!matches', preRegex: 'Idle' })],
      [true, false],
    );
  });
  it('table: compares rows, one for each line that matches', () => {
    const neighbours = { type: 'table', preRegex: '^(\\d\\S+) +4 +(\\d+)' } as const;
    assert.equal(says({ ...neighbours, evaluation: '=' }), true, 'in any order');
    const established = { type: 'table', preRegex: '^(\\d\\S+) .* \\d+$' } as const;
    assert.deepEqual(
      [
        says({ ...established, evaluation: 'contains' }),
        says({ ...established, evaluation: '!contains' }),
        says({ ...established, evaluation: '=' }),
        says({ ...established, evaluation: '!=' }),
      ],
      [false, false, false, true],
    );
    assert.deepEqual(
      [says({ ...established, evaluation: '>' }), says({ ...established, evaluation: '<=' })],
      [true, false],
      'in order: how many rows',
    );
    assert.deepEqual(analyticRuleResult({ ...established, evaluation: 'contains' }, before, after, searching()), {
      ...established,
      evaluation: 'contains',
      result: false,
      pre: ['192.0.2.1', '192.0.2.5'],
      post: ['192.0.2.5'],
    });
    assert.deepEqual(
      [says({ type: 'table' }), says({ type: 'table' }, before, before.split('\n').toReversed().join('\n'))],
      [false, true],
      'without a pattern, the lines',
    );
  });
});

describe('a run of an analytic template', () => {
  const pair = (rules: readonly AnalyticRule[]) => ({
    preRawCommand: 'show bgp',
    postRawCommand: 'show bgp',
    rules: [...rules],
  });
  const template = contentOf({
    name: 'BGP',
    passRule: false,
    prepostCommands: [pair([{}]), pair([{ preRegex: 'Neighbor' }])],
  });

  it('tells of each pair, and shows answers as HTML in which nothing is markup', async () => {
    const {
      name,
      result,
      all_pass_flag,
      commands_results: [first, second],
    } = await runAnalyticTemplate(
      template,
      ['a', 'Neighbor\r\n<img src=x onerror="alert(\'1\')">&'],
      ['b', 'Neighbor'],
    );
    assert.deepEqual([name, result, all_pass_flag, first!.result, second!.result], ['BGP', true, false, false, true]);
    assert.deepEqual(second, {
      preRawCommand: 'show bgp',
      postRawCommand: 'show bgp',
      result: true,
      all_pass_flag: true,
      rules: [{ preRegex: 'Neighbor', result: true, pre: 'Neighbor', post: 'Neighbor' }],
      preCommandResHTML: '<pre>Neighbor\n&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;</pre>',
      postCommandResHTML: '<pre>Neighbor</pre>',
    });
    assert.equal(
      (await runAnalyticTemplate({ ...template, passRule: true }, ['a', 'Neighbor'], ['b', 'Neighbor'])).result,
      false,
    );
  });
  it('wants a text for each pair', () =>
    assert.rejects(
      runAnalyticTemplate(template, ['a'], ['a', 'b']),
      (error) => error instanceof RequestError && error.code === 'unprocessable' && error.faults[0]!.path === '/pre',
    ));
});
