import { TemplateError } from '../errors.ts';
import { type Expressions, expressionsOf, type Watch } from './expressions.ts';
import { tokenize } from './lexer.ts';
import type { Body, CallNode, Expression, FilterNode, Signature, Statement, Target } from './nodes.ts';
import { describe, streamOf } from './stream.ts';

/** Which filters and tests there are. */
type Known = { readonly filter: (name: string) => boolean; readonly test: (name: string) => boolean };

/** Names of a macro that it has only if its body reads them. */
const specialNames = ['caller', 'kwargs', 'varargs'];

const otherTemplates = new Set(['extends', 'include', 'import', 'from']);

/** A template as a tree. Throws `TemplateError` with the line. */
export const parse = (template: string, known: Known): Body => {
  const stream = streamOf(tokenize(template));
  const { current, next, is, isName, skip, skipName, expect, expectType, fail } = stream;
  const blocks = new Set<string>();
  const tags: string[] = [];
  const ends: (readonly string[])[] = [];
  const reading: Set<string>[] = [];
  const unknown: TemplateError[] = [];
  let perhaps = 0;
  let loops = 0;

  const watch: Watch = {
    reads: (name) => {
      if (specialNames.includes(name)) for (const names of reading) names.add(name);
    },
    filter: (name, line) => {
      if (perhaps === 0 && !known.filter(name)) unknown.push(new TemplateError(`No filter named '${name}'.`, line));
    },
    test: (name, line) => {
      if (perhaps === 0 && !known.test(name)) unknown.push(new TemplateError(`No test named '${name}'.`, line));
    },
    condition: (parse) => {
      const before = unknown.length;
      const [value, conditional] = parse();
      if (conditional) unknown.length = before;
      return value;
    },
  };
  const { expression, tuple, primary, filters }: Expressions = expressionsOf(stream, watch);

  /** Statements up to one of the tags, which is passed up to its name. */
  const body = (...until: string[]): { readonly body: Body; readonly end: string } => {
    skip(':');
    expectType('block_end');
    const statements = stream.deeper(() => upTo(until));
    if (current().type === 'eof') lost(undefined, until);
    return { body: statements, end: next().value };
  };

  /** What Jinja2 says of a tag that is not expected, or of none. */
  const lost = (name: string | undefined, until?: readonly string[], line?: number): never => {
    const all = until ? [...ends, until] : ends;
    const wanted = all
      .at(-1)
      ?.map((tag) => `'${tag}'`)
      .join(' or ');
    const parts = [name === undefined ? 'Unexpected end of template.' : `Encountered unknown tag '${name}'.`];
    if (wanted !== undefined) {
      parts.push(
        name !== undefined && all.some((tags) => tags.includes(name))
          ? `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${wanted}.`
          : `Jinja was looking for the following tags: ${wanted}.`,
      );
    }
    if (tags.length > 0) parts.push(`The innermost block that needs to be closed is '${tags.at(-1)}'.`);
    return fail(parts.join(' '), line);
  };

  const upTo = (until?: readonly string[]): Body => {
    const statements: Statement[] = [];
    if (until) ends.push(until);
    for (;;) {
      const token = current();
      if (token.type === 'eof') break;
      if (token.type === 'data') {
        next();
        statements.push({ node: 'data', text: token.value, line: token.line });
      } else if (token.type === 'variable_begin') {
        next();
        statements.push({ node: 'print', value: tuple(), line: token.line });
        expectType('variable_end');
      } else {
        next();
        if (until && isName(...until)) break;
        statements.push(...statement());
        expectType('block_end');
      }
    }
    if (until) ends.pop();
    return statements;
  };

  const statement = (): Statement[] => {
    const { type, value: tag, line } = current();
    if (type !== 'name') fail('tag name expected');
    if (otherTemplates.has(tag)) fail(`{% ${tag} %} needs other templates; here a template is one text`);
    const parse = statements.get(tag);
    if (!parse) return lost(tag, undefined, line);
    tags.push(tag);
    next();
    const parsed = parse(line);
    tags.pop();
    return Array.isArray(parsed) ? parsed : [parsed];
  };

  const name = (): string => expectType('name').value;

  const asTarget = (value: Expression): Target => {
    if (value.node === 'name') {
      if (loops > 0 && value.name === 'loop')
        fail("Can't assign to special loop variable in for-loop target", value.line);
      return value;
    }
    if (value.node === 'tuple' || value.node === 'list')
      return { node: 'targets', items: value.items.map(asTarget), line: value.line };
    return fail(`can't assign to '${value.node === 'constant' ? 'const' : value.node}'`, value.line);
  };

  const target = (end?: string): Target => {
    const { line } = current();
    const parts = [primary()];
    let commas = false;
    while (skip(',')) {
      commas = true;
      if (current().type === 'block_end' || is('=') || (end !== undefined && isName(end))) break;
      parts.push(primary());
    }
    return commas ? { node: 'targets', items: parts.map(asTarget), line } : asTarget(parts[0]!);
  };

  /** Parses what is read only when called: a macro's parameters and body. */
  const signature = (end: string, between: () => void = () => undefined): Signature => {
    const parameters: string[] = [];
    const defaults: Expression[] = [];
    const uses = new Set<string>();
    const outerLoops = loops;
    if (skip('(')) {
      while (!is(')')) {
        if (parameters.length > 0) expect(',');
        const parameter = name();
        if (parameters.includes(parameter)) fail(`duplicate argument '${parameter}' in function definition`);
        parameters.push(parameter);
        if (skip('=')) defaults.push(expression());
        else if (defaults.length > 0) fail('non-default argument follows default argument');
      }
      expect(')');
    } else if (end === 'endmacro') expect('(');
    between();
    reading.push(uses);
    loops = 0;
    const outerPerhaps = perhaps;
    perhaps = 0;
    const parsed = body(end).body;
    perhaps = outerPerhaps;
    loops = outerLoops;
    reading.pop();
    if (
      uses.has('caller') &&
      parameters.includes('caller') &&
      parameters.indexOf('caller') < parameters.length - defaults.length
    )
      fail('When defining macros or call blocks the special "caller" argument must be omitted or be given a default.');
    return { parameters, defaults, uses, body: parsed };
  };

  /** A body with a frame of its own, where unknown filters count again. */
  const framed = (...until: string[]): { readonly body: Body; readonly end: string } => {
    const outer = perhaps;
    perhaps = 0;
    const parsed = body(...until);
    perhaps = outer;
    return parsed;
  };

  const statements: ReadonlyMap<string, (line: number) => Statement | Statement[]> = new Map<
    string,
    (line: number) => Statement | Statement[]
  >([
    [
      'print',
      (line) => {
        const parts: Statement[] = [];
        while (current().type !== 'block_end') {
          if (parts.length > 0) expect(',');
          parts.push({ node: 'print', value: expression(), line });
        }
        return parts;
      },
    ],
    [
      'for',
      (line) => {
        loops++;
        const to = target('in');
        loops--;
        stream.expectName('in');
        const over = tuple({ conditions: false, end: 'recursive' });
        const test = skipName('if') ? expression() : undefined;
        const recursive = skipName('recursive');
        loops++;
        const main = framed('endfor', 'else');
        loops--;
        const otherwise = main.end === 'else' ? framed('endfor').body : [];
        return { node: 'for', target: to, over, test, recursive, body: main.body, otherwise, line };
      },
    ],
    [
      'if',
      (line) => {
        perhaps++;
        const branches: { test: Expression; body: Body; line: number }[] = [];
        let at = line;
        for (;;) {
          const test = tuple({ conditions: false });
          const { body: then, end } = body('elif', 'else', 'endif');
          branches.push({ test, body: then, line: at });
          if (end !== 'elif') {
            const otherwise = end === 'else' ? body('endif').body : [];
            perhaps--;
            return { node: 'if', branches, otherwise, line };
          }
          at = current().line;
        }
      },
    ],
    [
      'set',
      (line) => {
        let to: Target;
        if (current().type === 'name' && stream.ahead().type === 'operator' && stream.ahead().value === '.') {
          const object = name();
          next();
          to = { node: 'member', name: object, attribute: name(), line };
        } else to = target();
        if (skip('=')) return { node: 'set', target: to, value: tuple(), line };
        const filter = filters(undefined);
        return { node: 'setBlock', target: to, filter, body: framed('endset').body, line };
      },
    ],
    [
      'with',
      (line) => {
        const targets: [Target, Expression][] = [];
        while (current().type !== 'block_end') {
          if (targets.length > 0) expect(',');
          const to = target();
          expect('=');
          targets.push([to, expression()]);
        }
        return { node: 'with', targets, body: framed('endwith').body, line };
      },
    ],
    [
      'macro',
      (line) => {
        const called = name();
        return { node: 'macro', name: called, signature: signature('endmacro'), line };
      },
    ],
    [
      'call',
      (line) => {
        let call: Expression | undefined;
        const parsed = signature('endcall', () => {
          call = expression();
          if (call.node !== 'call') fail('expected call', line);
        });
        return { node: 'callBlock', call: call as CallNode, signature: parsed, line };
      },
    ],
    [
      'filter',
      (line) => ({
        node: 'filterBlock',
        filter: filters(undefined, true) as FilterNode,
        body: framed('endfilter').body,
        line,
      }),
    ],
    [
      'block',
      (line) => {
        const called = name();
        if (blocks.has(called)) fail(`block '${called}' defined twice`, line);
        blocks.add(called);
        const scoped = skipName('scoped');
        const required = skipName('required');
        if (is('-'))
          fail(
            'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
          );
        const outer = loops;
        loops = 0;
        const parsed = framed('endblock').body;
        loops = outer;
        if (required) fail(`Required block '${called}' not found`, line);
        skipName(called);
        return { node: 'block', name: called, scoped, body: parsed, line };
      },
    ],
    [
      'autoescape',
      (line) => {
        const value = expression();
        return { node: 'autoescape', value, body: framed('endautoescape').body, line };
      },
    ],
    ['do', (line) => ({ node: 'do', value: tuple(), line })],
    ...(['break', 'continue'] as const).map(
      (word) =>
        [
          word,
          (line: number): Statement => {
            if (loops === 0) fail(`'${word}' outside loop`, line);
            return { node: word, line };
          },
        ] as const,
    ),
  ]);

  const all = upTo();
  if (current().type !== 'eof') throw new TemplateError(`unexpected '${describe(current())}'`, current().line);
  if (unknown[0]) throw unknown[0];
  return all;
};
