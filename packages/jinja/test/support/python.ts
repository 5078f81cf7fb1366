import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Case, Result } from './oracle.ts';

const python = process.env['TEST_PYTHON'] ?? '/usr/bin/python3';

const script = (environment: string): string => `
import json, re, sys, signal
from jinja2 import DictLoader, TemplateSyntaxError
${environment}

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
        environment.loader = DictLoader(case.get('stored', {}))
        environment.cache.clear()
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

/** Whether Python has these modules. */
export const pythonHas = (modules: string): boolean =>
  existsSync(python) && spawnSync(python, ['-c', `import ${modules}`], { timeout: 20_000 }).status === 0;

/** What Python makes of templates in the environment that the lines of Python make. */
export const inPython = (environment: string, cases: readonly Case[]): Result[] =>
  JSON.parse(run(script(environment), JSON.stringify(cases))) as Result[];
