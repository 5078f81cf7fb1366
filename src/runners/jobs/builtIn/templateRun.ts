import type { Tools } from '../../../commands/engine/define.ts';
import { templateText } from '../../../commands/template-builder/templates.ts';
import { maskSecrets } from '../../../domain/engine/secretFields.ts';
import type { Variables } from '../../../domain/operations-manager/jobs.ts';
import type { Renderer } from '../../../southbound/port.ts';
import { type Component, RunEnded } from './run.ts';

type Needs = { readonly tools: Tools; readonly renderer: Pick<Renderer, 'render'> };

/**
 * Renders a stored template over the job's variables. It sees secrets as `********`, because the rendered text is kept in
 * clear.
 */
export const templateRun =
  ({ tools, renderer }: Needs): Component =>
  async ({ doc, signal, step }) => {
    const actor = await step();
    const { name } = doc.component;
    const template = await templateText(name, tools);
    if (template === undefined) throw new RunEnded(`There is no template ${JSON.stringify(name)} of type jinja2`);
    const renderedTemplate = await renderer.render(template, maskSecrets(doc.variables) as Variables, {
      name,
      account: actor.id,
      signal,
      find: (other) => templateText(other, tools),
    });
    return { renderedTemplate };
  };
