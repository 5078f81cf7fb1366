import { exactValue } from '@automation-platform/json';
import { renderTemplate } from '../../src/index.ts';
import { inPython, pythonHas } from './python.ts';

/** A template over variables: values that JavaScript has without loss, or a JSON text. */
export type Case = {
  readonly name: string;
  readonly template: string;
  readonly variables: Record<string, unknown>;
  readonly json?: string;
  /** The other templates that there are. */
  readonly stored?: Readonly<Record<string, string>>;
};

/** What a template gives: its text, or that it is refused and in which line. */
export type Result = { readonly text: string } | { readonly error: string; readonly line: number };

const sandbox = `
from jinja2.sandbox import SandboxedEnvironment
environment = SandboxedEnvironment(extensions=['jinja2.ext.loopcontrols', 'jinja2.ext.do'])
`;

/** A suite that asks the real Jinja2. Skipped where it is not installed; in CI that fails. */
export const describeWithJinja2 = (title: string, suite: () => void): void => {
  if (process.env['CI'] !== 'true' && !pythonHas('jinja2'))
    describe(title, () => {
      it('is not tested here: needs Jinja2 for /usr/bin/python3 or TEST_PYTHON (apt-get install python3-jinja2)');
    });
  else describe(title, suite);
};

/** What the real Jinja2 gives, in its sandbox with loop controls and `do`. */
export const jinja2 = (cases: readonly Case[]): Result[] => inPython(sandbox, cases);

/** What this engine gives. */
export const ours = ({ template, variables, json, stored = {} }: Case): Result => {
  try {
    const given = json === undefined ? variables : (exactValue(json) as Record<string, unknown>);
    return { text: renderTemplate(template, given, new Map(Object.entries(stored))) };
  } catch (error) {
    return { error: (error as Error).message, line: (error as { line?: number }).line ?? 0 };
  }
};

/** Whether both give the same text, or both refuse. */
export const agree = (a: Result, b: Result): boolean => ('text' in a ? 'text' in b && a.text === b.text : 'error' in b);

/** A difference in words. */
export const difference = ({ name, template, variables, json }: Case, theirs: Result, mine: Result): string =>
  `${name}\n${template}\n${(json ?? JSON.stringify(variables)).slice(0, 400)}\nJinja2: ${JSON.stringify(theirs)}\nhere:   ${JSON.stringify(mine)}`;
