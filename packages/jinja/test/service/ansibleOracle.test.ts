import assert from 'node:assert/strict';
import { sampled } from '../../../../test/support/sample.ts';
import { ansible, describeWithAnsible } from '../support/ansible.ts';
import { ansibleExpressions } from '../support/ansibleExpressions.ts';
import { agree, type Case, difference, ours, type Result } from '../support/oracle.ts';

/** Expressions that give something else here, each with its reason in docs/templates.md. This list may only shrink. */
const known: readonly RegExp[] = [
  /shutdown\\n'\|regex_\w+\('(?:\\\\w\+)?\$'(?!, multiline|, '-', multiline)/, // `$` before the newline that ends several lines
  /shutdown\\n' is \S+\('\\\\w\+\$'\)/, // the same
  /json_query\('&a'\)/, // `&` is no value, but for functions
];

/** The names of the filters that an expression uses. */
const filtersOf = ({ template }: Case): string[] =>
  [...template.replace(/'(?:\\.|[^'\\])*'/g, '').matchAll(/\|\s*([a-z_0-9.]+)/g)].map(([, name = '']) => name);

const ofJinja = new Set([
  'trim',
  'list',
  'sort',
  'upper',
  'join',
  'length',
  'first',
  'last',
  'string',
  'map',
  'safe',
  'select',
  'selectattr',
]);

/** A third of the expressions of each subject; all of them in a soak. */
const asked: readonly (readonly [string, readonly Case[]])[] = Object.entries(ansibleExpressions).map(
  ([subject, cases]) => [subject, sampled(cases, Math.ceil(cases.length / 3))],
);

describeWithAnsible("Ansible's filters beside the real ones", () => {
  const all = asked.flatMap(([, cases]) => cases);
  const names = [...new Set(all.flatMap(filtersOf))].filter((name) => !ofJinja.has(name));
  const theirs = new Map<Case, Result>();
  before(function () {
    this.timeout(120_000);
    ansible(names, all).forEach((result, i) => {
      theirs.set(all[i]!, result);
    });
  });

  it('are compared in at least 500 expressions', () => assert.ok(all.length >= 500, `${all.length} expressions`));

  for (const [subject, cases] of asked) {
    it(`${subject}: ${cases.length} expressions give the same, but for those that are known to differ`, () => {
      const different = cases.filter((one) => !agree(theirs.get(one)!, ours(one)));
      const isKnown = ({ template }: Case): boolean => known.some((pattern) => pattern.test(template));
      const texts = cases.filter((one) => 'text' in theirs.get(one)!).length;
      const shown = different.map((one) => difference(one, theirs.get(one)!, ours(one)));
      if (process.env['SHOW_DIFFERENCES'])
        console.log(
          `${shown.join('\n\n')}\n${subject}: ${cases.length - different.length} of ${cases.length} the same, ${texts} of them texts`,
        );
      assert.ok(texts > cases.length / 4, `only ${texts} give a text: the expressions say too little`);
      assert.deepEqual(
        different.filter((one) => !isKnown(one)).map((one) => one.template),
        [],
        shown.slice(0, 20).join('\n\n'),
      );
    });
  }
});
