import { isObject, type Members } from '@automation-platform/json';
import type { Tools } from '../../../commands/engine/define.ts';
import { templateText } from '../../../commands/template-builder/templates.ts';
import { maskSecrets } from '../../../domain/engine/secretFields.ts';
import { type Cast, cast } from '../../../domain/template-builder/casts.ts';
import type { Renderer } from '../../../southbound/port.ts';
import { type Operation, type Run, RunEnded } from './run.ts';

type Needs = { readonly tools: Tools; readonly renderer: Pick<Renderer, 'render'> };

/** A template to render; `name` if it is a stored one. */
type Source = { readonly text: string; readonly name?: string };

const membersIn = (value: unknown, what: string): Members => {
  if (isObject(value)) return value;
  throw new RunEnded(`The input ${what} must be an object`);
};

const casts: readonly unknown[] = ['boolean', 'object', 'number', 'string'] satisfies readonly Cast[];

const castIn = (value: unknown): Cast => {
  if (casts.includes(value)) return value as Cast; // it is one of them
  throw new RunEnded(`The input castDataType must be one of ${casts.join(', ')}`);
};

/** Renders templates. They see secrets as `********`, because the rendered text is kept in clear. */
export const templateRuns = ({ tools, renderer }: Needs) => {
  const stored = async ({ name }: Members): Promise<Source> => {
    const text = typeof name === 'string' ? await templateText(name, tools) : undefined;
    if (typeof name !== 'string' || text === undefined)
      throw new RunEnded(`There is no template ${JSON.stringify(name)} of type jinja2`);
    return { text, name };
  };

  const textual = ({ template }: Members): Source => {
    if (typeof template === 'string') return { text: template };
    throw new RunEnded('The input template must be a text');
  };

  const rendered = async (
    { inputs, signal, step }: Run,
    sourceIn: (inputs: Members) => Source | Promise<Source>,
    variables: unknown,
  ): Promise<string> => {
    const actor = await step();
    const { text, ...named } = await sourceIn(inputs);
    return renderer.render(text, maskSecrets(variables) as Members, {
      ...named,
      account: actor.id,
      signal,
      find: (other) => templateText(other, tools),
    });
  };

  const casting =
    (sourceIn: (inputs: Members) => Source | Promise<Source>): Operation =>
    async (run) => {
      const type = castIn(run.inputs.castDataType ?? 'string');
      const text = await rendered(run, sourceIn, membersIn(run.inputs.variables ?? {}, 'variables'));
      return { renderedTemplate: JSON.parse(cast(text, type)) };
    };

  const render: Operation = async (run) => ({
    renderedTemplate: await rendered(run, stored, membersIn(run.inputs.context ?? {}, 'context')),
  });

  return { render, renderStoredWithCast: casting(stored), renderTextWithCast: casting(textual) };
};
