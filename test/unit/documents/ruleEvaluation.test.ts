import assert from 'node:assert/strict';
import { searching } from '../../../src/commands/mop/searches.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { contentOf, type Rule } from '../../../src/domain/mop/commandTemplates.ts';
import { type Comparator, compare } from '../../../src/domain/mop/comparisons.ts';
import { ready, ruleResult } from '../../../src/domain/mop/ruleEvaluation.ts';
import type { Variables } from '../../../src/domain/mop/templateVariables.ts';
import { rulesPass } from '../../../src/domain/mop/verdicts.ts';

const answer = `GigabitEthernet0/1 is up, line protocol is up
  Memory: Total 8,192, Used 6,144
  Version 17.9.4a, uptime 3 weeks
GigabitEthernet0/2 is up, line protocol is down`;

const prepared = (rule: Rule, variables: Variables = {}) =>
  ready(contentOf({ name: 'x', commands: [{ command: 'show', rules: [rule] }] }), variables)[0]!.rules[0]!;
const outcome = (rule: Rule, variables?: Variables) => ruleResult(prepared(rule, variables), answer, searching());
const holds = (rule: Rule, variables?: Variables): boolean => {
  const { result, error } = outcome(rule, variables);
  assert.equal(error, undefined);
  return result;
};

describe('rules of command templates', () => {
  it('contains: the text is there, with its case unless flags say otherwise', () => {
    assert.equal(holds({ rule: 'line protocol is down', eval: 'contains' }), true);
    assert.equal(holds({ rule: 'LINE protocol', eval: 'contains' }), false);
    assert.equal(holds({ rule: 'LINE protocol', eval: 'contains', flags: { case: true } }), true);
    assert.equal(holds({ rule: 'is .p', eval: 'contains' }), false);
  });

  it('!contains: it is not', () => {
    assert.equal(holds({ rule: 'err-disabled', eval: '!contains' }), true);
    assert.equal(holds({ rule: 'down', eval: '!contains' }), false);
    assert.equal(holds({ rule: 'DOWN', eval: '!contains', flags: { case: true } }), false);
  });

  it('contains1: it is there exactly once', () => {
    assert.equal(holds({ rule: 'Version', eval: 'contains1' }), true);
    assert.equal(holds({ rule: 'line protocol', eval: 'contains1' }), false);
    assert.equal(holds({ rule: 'absent', eval: 'contains1' }), false);
    assert.equal(ruleResult(prepared({ rule: 'aa', eval: 'contains1' }), 'aaa', searching()).result, false);
  });

  it('RegEx and !RegEx: with or without slashes, flags behind them or beside', () => {
    for (const rule of ['is up.*is (up|down)$', '/is up.*is (up|down)$/']) {
      assert.equal(holds({ rule, eval: 'RegEx' }), true);
      assert.equal(holds({ rule, eval: '!RegEx' }), false);
    }
    assert.equal(holds({ rule: '^ +Version', eval: 'RegEx' }), false);
    assert.equal(holds({ rule: '^ +Version', eval: 'RegEx', flags: { multiline: true } }), true);
    assert.equal(holds({ rule: '/^ +version/mi', eval: 'RegEx' }), true);
    assert.equal(holds({ rule: '/up.*uptime/', eval: '!RegEx' }), true);
    assert.equal(holds({ rule: '/up.*uptime/s', eval: '!RegEx' }), false);
  });

  it('#comparison: what a pattern takes out against a value, or against what another takes out', () => {
    assert.equal(holds({ rule: '/uptime (\\d+) weeks/', eval: '#comparison', evaluator: '>=', ruleB: '3' }), true);
    assert.equal(holds({ rule: '/uptime (\\d+) weeks/', eval: '#comparison', evaluator: '>', ruleB: '3' }), false);
    assert.equal(
      holds({ rule: '/Used ([\\d,]+\\d)/', eval: '#comparison', evaluator: '<', ruleB: '/Total ([\\d,]+\\d)/' }),
      true,
    );
    assert.equal(holds({ rule: 'Version (\\S+),', eval: '#comparison', evaluator: '=', ruleB: '17.9.4a' }), true);
    assert.equal(holds({ rule: 'Version ([\\d.]+)', eval: '#comparison', evaluator: '<', ruleB: '17.12.1' }), true);
  });

  it('#comparison by %: the second value is at most so much of the first', () => {
    const used = {
      rule: '/Total ([\\d,]+\\d)/',
      ruleB: '/Used ([\\d,]+\\d)/',
      eval: '#comparison',
      evaluator: '%',
    } as const;
    assert.equal(holds({ ...used, percentage: 75 }), true);
    assert.equal(holds({ ...used, percentage: 74.9 }), false);
  });

  it('are refused by their place when their eval is unknown', () =>
    assert.throws(
      () => prepared({ rule: 'a', eval: 'XPath 3' }),
      (error) =>
        error instanceof RequestError &&
        error.code === 'unprocessable' &&
        error.faults[0]?.at === '/commands/0/rules/0/eval',
    ));

  it('say why they could not be found out', () => {
    const { result, error } = outcome({
      rule: '/Uptime (\\d+) years/',
      eval: '#comparison',
      evaluator: '>',
      ruleB: '1',
    });
    assert.deepEqual([result, error], [false, 'Nothing matches /Uptime (\\d+) years/']);
    assert.match(
      outcome({ rule: '/Version (\\S+a)/', eval: '#comparison', evaluator: '%', ruleB: '1', percentage: 5 }).error!,
      /percentage/,
    );
    assert.match(
      outcome({ rule: 'protocol is (\\w+)', eval: '#comparison', evaluator: '>=', ruleB: '10' }).error!,
      /only one is a number/,
    );
  });
});

describe('comparisons', () => {
  const all: readonly (readonly [string, Comparator, string, boolean])[] = [
    ['3', '=', '3', true],
    ['3', '==', '03', true],
    ['3', '!=', '4', true],
    ['up', '=', 'up', true],
    ['up', '=', 'Up', false],
    ['9', '<', '10', true],
    ['-5', '<', '3', true],
    ['0.25', '<', '0.5', true],
    ['1,234', '>', '999', true],
    ['18446744073709551615', '=', '18446744073709551614', false],
    ['18446744073709551615', '>', '18446744073709551614', true],
    ['17.9.4', '<', '17.12.1', true],
    ['17.12.1', '>=', '17.9.4', true],
    ['Gi0/2', '<', 'Gi0/10', true],
    ['17.10', '=', '17.1', false],
    ['5', '=', '5.0', false],
    ['5', '=', 'up', false],
    ['up', '!=', '5', true],
    ['a', '<=', 'a', true],
    ['a', '>', 'a', false],
  ];
  for (const [left, comparator, right, holds] of all)
    it(`${left} ${comparator} ${right} is ${holds}`, () => assert.equal(compare(left, comparator, right), holds));
  it('refuse to put a number and a word in order', () => assert.throws(() => compare('N/A', '>=', '10'), RequestError));
  it('refuse endless values', () => assert.throws(() => compare('9'.repeat(1001), '>', '1'), RequestError));
});

describe('variables of command templates', () => {
  it('are put into commands and rules; raw is what there was before', () => {
    const [command] = ready(
      contentOf({
        name: 'x',
        commands: [
          { command: 'show interfaces <!port!>', rules: [{ rule: '<! port !> is <!state!>', eval: 'contains' }] },
        ],
      }),
      { port: 'Gi0/1', state: true },
    );
    assert.deepEqual(command, {
      raw: 'show interfaces <!port!>',
      evaluated: 'show interfaces Gi0/1',
      passRule: true,
      rules: [{ rule: 'Gi0/1 is true', eval: 'contains', raw: '<! port !> is <!state!>' }],
    });
  });
  it('match nothing but themselves in patterns', () => {
    assert.equal(holds({ rule: '^<!port!> is', eval: 'RegEx' }, { port: 'GigabitEthernet0/1' }), true);
    assert.equal(holds({ rule: '^<!port!> is', eval: 'RegEx' }, { port: '.*' }), false);
    assert.equal(holds({ rule: '/[<!letters!>]/', eval: 'RegEx' }, { letters: '^a-z' }), true);
    assert.equal(
      holds({ rule: '/uptime (\\d+)/', eval: '#comparison', evaluator: '<=', ruleB: '<!weeks!>' }, { weeks: 3 }),
      true,
    );
  });
  it('make an empty rule hold for nothing', () =>
    assert.deepEqual(outcome({ rule: '<!text!>', eval: 'contains' }, { text: '' }).error, 'The rule is empty'));

  it('that are empty hold, whatever their eval', () => {
    for (const how of ['contains', '!contains', 'contains1', 'RegEx', '!RegEx', '#comparison'])
      assert.equal(holds({ rule: '', eval: how }), true, how);
  });

  it('look at ruleB only to compare', () =>
    assert.equal(holds({ rule: 'Version', eval: 'contains', ruleB: '/<!no such!>(/', evaluator: '=' }), true));

  const refused = (variables: Variables, words: RegExp) =>
    assert.throws(
      () =>
        ready(
          contentOf({
            name: 'x',
            commands: [{ command: 'show <!a!> <!b!>', rules: [{ rule: '<!constructor!>', eval: 'contains' }] }],
          }),
          variables,
        ),
      (error) =>
        error instanceof RequestError &&
        error.code === 'unprocessable' &&
        words.test(JSON.stringify([error.message, error.faults]).replaceAll('\\"', '"')),
    );
  it('are refused by name, all at once, when they are missing or no plain values', () => {
    refused({ b: { c: 1 } }, /"a".*"b".*"constructor".*variables\/a/s);
    refused({ a: '', b: null, constructor: 'x' }, /"b"/);
    refused({ a: 'x'.repeat(1001), b: '', constructor: '' }, /1000 characters/);
  });
  it('cannot add a line to a command', () => refused({ a: 'version\nreload', b: '', constructor: 'x' }, /line break/));
  it('cannot make texts of any size', () => {
    assert.throws(() => prepared({ rule: '<!a!>'.repeat(50), eval: 'contains' }, { a: 'x'.repeat(1000) }), /16384/);
  });
});

describe('severities', () => {
  const [good, bad, warning] = [{ result: true }, { result: false }, { result: false, severity: 'warning' as const }];
  it('all: only errors fail', () =>
    assert.deepEqual(
      [[good, warning], [good, bad], [], [warning]].map((rules) => rulesPass(true, rules)),
      [true, false, true, true],
    ));
  it('one is enough: one that holds, or none that is an error', () =>
    assert.deepEqual(
      [[good, bad], [bad, warning], [bad], [], [warning], [bad, { result: true, severity: 'info' as const }]].map(
        (rules) => rulesPass(false, rules),
      ),
      [true, false, false, true, true, true],
    ));
});

describe('patterns of users', () => {
  it('stop at a bound that each search has, and all of a run together', () => {
    const find = searching();
    const search = { pattern: '(x+x+)+y', ignoreCase: false, multiline: false, dotAll: false };
    assert.throws(() => find(search, 'x'.repeat(10_000_000)), /too long for the pattern/);
    const one = () => find({ ...search, pattern: 'y(a|b)*z' }, 'x'.repeat(1_000_000));
    assert.throws(() => {
      for (let i = 0; i < 100; i++) one();
    }, /too large/);
  });
  it('find groups that took no part as undefined', () =>
    assert.deepEqual(searching()({ pattern: '(a)|(b)', ignoreCase: false, multiline: false, dotAll: false }, 'b'), [
      'b',
      undefined,
      'b',
    ]));
});
