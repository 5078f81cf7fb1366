import { isObject, type Members } from '@automation-platform/json';
import type { Tools } from '../../../commands/engine/define.ts';
import { templateText } from '../../../commands/template-builder/templates.ts';
import type { Actor } from '../../../domain/engine/core.ts';
import { maskSecrets } from '../../../domain/engine/secretFields.ts';
import { type Cast, cast } from '../../../domain/template-builder/casts.ts';
import type { Renderer } from '../../../southbound/port.ts';
import { type Operation, type OperationFor, type Run, RunEnded } from './run.ts';

type Needs = { readonly tools: Tools; readonly renderer: Pick<Renderer, 'render'> };

/** A template to render; `name` if it is a stored one. */
type Source = { readonly text: string; readonly name?: string };

type CastingRun = Run<{ readonly variables?: Members; readonly castDataType?: Cast }>;

const membersIn = (value: unknown, what: string): Members => {
  if (isObject(value)) return value;
  throw new RunEnded(`The input ${what} must be an object`);
};

/** Renders templates. They see secrets as `********`, because the rendered text is kept in clear. */
export const templateRuns = ({ tools, renderer }: Needs) => {
  const stored = async ({ name }: Members, actor: Actor): Promise<Source> => {
    const text = typeof name === 'string' ? await templateText(name, actor, tools) : undefined;
    if (typeof name !== 'string' || text === undefined)
      throw new RunEnded(`There is no template ${JSON.stringify(name)} of type jinja2`);
    return { text, name };
  };

  const rendered = async (
    { signal, step }: Pick<Run, 'signal' | 'step'>,
    source: (actor: Actor) => Source | Promise<Source>,
    variables: unknown,
  ): Promise<string> => {
    const actor = await step();
    const { text, ...named } = await source(actor);
    return renderer.render(text, maskSecrets(variables) as Members, {
      ...named,
      account: actor.id,
      signal,
      find: (other) => templateText(other, actor, tools),
    });
  };

  const casting = async (run: CastingRun, source: (actor: Actor) => Source | Promise<Source>): Promise<Members> => {
    const { variables = {}, castDataType = 'string' } = run.inputs;
    return { renderedTemplate: JSON.parse(cast(await rendered(run, source, variables), castDataType)) };
  };

  const renderStoredWithCast: OperationFor<'TemplateBuilder.renderJinja2TemplateWithCast'> = (run) =>
    casting(run, (actor) => stored(run.inputs, actor));

  const renderTextWithCast: OperationFor<'TemplateBuilder.renderJinja2ContextWithCast'> = (run) =>
    casting(run, () => ({ text: run.inputs.template }));

  const render: Operation = async (run) => ({
    renderedTemplate: await rendered(
      run,
      (actor) => stored(run.inputs, actor),
      membersIn(run.inputs.context ?? {}, 'context'),
    ),
  });

  return { render, renderStoredWithCast, renderTextWithCast };
};
