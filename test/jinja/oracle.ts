import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { exactValue } from '../../src/domain/engine/exactJson.ts';
import { renderTemplate } from '../../src/southbound/jinja/render.ts';

/** A template over variables: values that JavaScript has without loss, or a JSON text. */
export type Case = {
  readonly name: string;
  readonly template: string;
  readonly variables: Record<string, unknown>;
  readonly json?: string;
};

/** What a template gives: its text, or that it is refused and in which line. */
export type Result = { readonly text: string } | { readonly error: string; readonly line: number };

const python = process.env['TEST_PYTHON'] ?? '/usr/bin/python3';

const script = `
import json, re, sys, signal
from jinja2 import TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment
environment = SandboxedEnvironment(extensions=['jinja2.ext.loopcontrols', 'jinja2.ext.do'])

def line_of(error):
    if isinstance(error, TemplateSyntaxError):
        return error.lineno
    line, trace = 0, error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == '<template>':
            line = trace.tb_lineno
        trace = trace.tb_next
    return line

def late(*_):
    raise TimeoutError()

def result(case):
    signal.signal(signal.SIGALRM, late)
    signal.alarm(5)
    try:
        variables = json.loads(case['json']) if 'json' in case else case['variables']
        text = environment.from_string(case['template']).render(variables)
        text.encode()
        # Where an object lives in memory is no part of what a template prints.
        return {'text': re.sub(r' at 0x[0-9a-f]+', '', text)}
    except Exception as error:
        return {'error': type(error).__name__ + ': ' + str(error), 'line': line_of(error)}
    finally:
        signal.alarm(0)

json.dump([result(case) for case in json.load(sys.stdin)], sys.stdout)
`;

const run = (source: string, input: string): string => {
  const { stdout, stderr, status } = spawnSync(python, ['-c', source], {
    input,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
    timeout: 120_000,
  });
  if (status !== 0) throw new Error(`${python} failed: ${stderr}`);
  return stdout;
};

const installed = (): boolean =>
  existsSync(python) && spawnSync(python, ['-c', 'import jinja2'], { timeout: 20_000 }).status === 0;

/** A suite that asks the real Jinja2. Skipped where it is not installed; in CI that fails. */
export const describeWithJinja2 = (title: string, suite: () => void): void => {
  if (process.env['CI'] !== 'true' && !installed())
    describe(title, () => {
      it('is not tested here: needs Jinja2 for /usr/bin/python3 or TEST_PYTHON (apt-get install python3-jinja2)');
    });
  else describe(title, suite);
};

/** What the real Jinja2 gives, in its sandbox with loop controls and `do`. */
export const jinja2 = (cases: readonly Case[]): Result[] => JSON.parse(run(script, JSON.stringify(cases))) as Result[];

/** What this engine gives. */
export const ours = ({ template, variables, json }: Case): Result => {
  try {
    return {
      text: renderTemplate(template, json === undefined ? variables : (exactValue(json) as Record<string, unknown>)),
    };
  } catch (error) {
    return { error: (error as Error).message, line: (error as { line?: number }).line ?? 0 };
  }
};

/** Whether both give the same text, or both refuse. */
export const agree = (a: Result, b: Result): boolean => ('text' in a ? 'text' in b && a.text === b.text : 'error' in b);

/** A difference in words. */
export const difference = ({ name, template, variables, json }: Case, theirs: Result, mine: Result): string =>
  `${name}\n${template}\n${(json ?? JSON.stringify(variables)).slice(0, 400)}\nJinja2: ${JSON.stringify(theirs)}\nhere:   ${JSON.stringify(mine)}`;
