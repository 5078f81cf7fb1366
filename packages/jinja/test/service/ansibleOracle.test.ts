import assert from 'node:assert/strict';
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

describeWithAnsible("Ansible's filters beside the real ones", () => {
  const all = Object.values(ansibleExpressions).flat();
  const names = [...new Set(all.flatMap(filtersOf))].filter((name) => !ofJinja.has(name));
  const theirs = new Map<Case, Result>();
  before(function () {
    this.timeout(120_000);
    ansible(names, all).forEach((result, i) => {
      theirs.set(all[i]!, result);
    });
  });

  it('are compared in at least 500 expressions', () => assert.ok(all.length >= 500, `${all.length} expressions`));

  for (const [subject, cases] of Object.entries(ansibleExpressions)) {
    it(`${subject}: ${cases.length} expressions give the same, but for those that are known to differ`, () => {
      const different = cases.filter((asked) => !agree(theirs.get(asked)!, ours(asked)));
      const isKnown = ({ template }: Case): boolean => known.some((pattern) => pattern.test(template));
      const texts = cases.filter((asked) => 'text' in theirs.get(asked)!).length;
      const shown = different.map((asked) => difference(asked, theirs.get(asked)!, ours(asked)));
      if (process.env['SHOW_DIFFERENCES'])
        console.log(
          `${shown.join('\n\n')}\n${subject}: ${cases.length - different.length} of ${cases.length} the same, ${texts} of them texts`,
        );
      assert.ok(texts > cases.length / 3, `only ${texts} give a text: the expressions say too little`);
      assert.deepEqual(
        different.filter((asked) => !isKnown(asked)).map((asked) => asked.template),
        [],
        shown.slice(0, 20).join('\n\n'),
      );
    });
  }
});
