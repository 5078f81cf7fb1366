import type { AutomationImported } from '../domain/automationImports.ts';
import { automationNames } from '../domain/automations.ts';
import { type Event, fold, type Name } from '../domain/core.ts';
import type { Part, Plan, PrebuiltImport, PrebuiltState } from '../domain/prebuilts.ts';
import type { Bundle } from '../domain/prebuiltSchemas.ts';
import { Refusal } from '../domain/refusal.ts';
import { triggerNames } from '../domain/triggers.ts';
import { importAutomation } from './automationImports.ts';
import type { Preparing, Tools } from './define.ts';
import { type Kind, kinds } from './prebuiltKinds.ts';

type Request = Preparing<PrebuiltState, PrebuiltImport>;

/** A resource as the package leaves it. */
type Planned = { readonly collection: string; readonly category: string; readonly id: string; readonly name: string; readonly state: unknown };

/** The platform as it will be with what is planned: documents of a package may name each other. */
const worldWith = (tools: Tools, planned: readonly Planned[]): Tools => ({
  ...tools,
  state: async (aggregate, id) => (planned.find((one) => one.category === aggregate.category && one.id === id)?.state as never) ?? tools.state(aggregate, id),
  find: async (collection, idOrName) => {
    const here = planned.filter((one) => one.collection === collection);
    const byId = here.find(({ id }) => id === idOrName) ?? here.find(({ name }) => name === idOrName);
    if (byId) return byId.id;
    const id = await tools.find(collection, idOrName);
    // One that loses this very name.
    return here.some((one) => one.id === id) ? undefined : id;
  },
});

/** A refusal of the document alone as one of the request; `inside`: where the document lies in what refused it. */
const moved = ({ code, message, faults }: Refusal, index: number, inside: string): Refusal => {
  const at = `/prebuilt/bundles/${index}/data`;
  const within = (path = '') => (path === inside || path.startsWith(`${inside}/`) ? path.slice(inside.length) : path.startsWith('/') ? path : '');
  return new Refusal(code, message, { faults: faults.map((fault) => ({ ...fault, path: at + within(fault.path) })) });
};

const keyOf = ({ kind, parent = '', name }: Name): string => JSON.stringify([kind, parent, name]);

/**
 * What installing the package comes to: each document goes through the command that would take it in by itself, up to
 * its decision, so that nothing is refused once the package is decided. Refusals are told, not thrown.
 */
export const planOf = async (request: Request, tools: Tools): Promise<{ readonly plan: Plan; readonly refusals: readonly Refusal[] }> => {
  const { input: { prebuilt: { bundles }, overwrite = false }, actor, now, newId } = request;
  const parts: Part[] = [];
  const removed: { id: string; actionId: string }[] = [];
  const installed: (Plan['installed'][number] | undefined)[] = [];
  const refusals: Refusal[] = [];
  const planned: Planned[] = [];
  const world = worldWith(tools, planned);
  const taken = new Map<string, number>();

  /** Notes that the document needs the streams and names, which nobody else may have. */
  const reserve = (index: number, keys: readonly string[]): void => {
    for (const key of keys) {
      const earlier = taken.get(key);
      if (earlier !== undefined && earlier !== index) throw new Refusal('invalid', `The documents of bundles ${earlier} and ${index} have an id or name in common`, { path: '/' });
      taken.set(key, index);
    }
  };
  const notHeld = async (collection: string, id: string, field: string, name: string): Promise<void> => {
    const [holder] = await tools.query(collection, { field, op: 'equals', value: name });
    if (holder && holder._id !== id) throw new Refusal('conflict', `The name ${JSON.stringify(name)} is taken`, { path: `/${field}` });
  };

  const planDocument = async ({ command, member, collection, meant }: Kind, { type, data }: Bundle, index: number): Promise<void> => {
    const { aggregate } = command;
    const id = await meant(data, newId(`bundle ${index}`), tools);
    const state = await tools.state(aggregate, id);
    const input = { [member]: data, overwrite };
    const refs = await command.prepare?.({ id, input, state, actor, now, newId, early: undefined }, tools);
    const events = command.decide(state, input, { id, now, actor, newId, refs });
    const after = fold(aggregate, events, state);
    const names = aggregate.names!(after);
    const { name } = names[0]!;
    reserve(index, [`${aggregate.category}-${id}`, ...names.map(keyOf)]);
    planned.push({ collection, category: aggregate.category, id, name, state: after });
    installed[index] = { type, _id: id, name };
    if (events.length === 0) return;
    await notHeld(collection, id, 'name', name);
    parts.push({ category: aggregate.category, id, names, bundle: index });
  };

  const planAutomation = async ({ type, data }: Bundle, index: number): Promise<void> => {
    const id = newId(`automation import ${index}`);
    const input = { automation: data as never, overwrite };
    const refs = await importAutomation.prepare!({ id, input, state: {}, actor, now, newId, early: undefined }, world);
    const [decided] = importAutomation.decide({}, input, { id, now, actor, newId, refs }) as readonly Event<string, AutomationImported>[];
    const document = data as { readonly name: string; readonly triggers?: readonly { readonly _id: string }[] };
    reserve(index, [`automation-${refs.id}`, ...automationNames(document).map(keyOf), ...(document.triggers ?? []).map(({ _id }) => `trigger-${_id}`)]);
    installed[index] = { type, _id: refs.id, name: document.name };
    if (!decided) return;
    const { automation: { _id, ...automation }, triggers, removed: gone } = decided.data;
    const restored = triggers.map(({ _id, ...content }) => ({ category: 'trigger', id: _id, names: triggerNames(content), bundle: index, content }));
    reserve(index, restored.flatMap((part) => [`trigger-${part.id}`, ...part.names.map(keyOf)]));
    await notHeld('automations', _id, 'name', automation.name);
    for (const { id, content } of restored) if (content.type === 'endpoint') await notHeld('triggers', id, 'routeName', content.routeName);
    parts.push({ category: 'automation', id: _id, names: automationNames(automation), bundle: index, content: automation }, ...restored);
    removed.push(...gone.map((id) => ({ id, actionId: _id })));
  };

  const each = async (types: readonly string[], inside: string, work: (bundle: Bundle, index: number) => Promise<void>): Promise<void> => {
    for (const [index, bundle] of bundles.entries()) {
      if (!types.includes(bundle.type)) continue;
      await work(bundle, index).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        refusals.push(moved(error, index, inside));
      });
    }
  };

  for (const kind of kinds) await each(kind.types, `/${kind.member}`, (bundle, index) => planDocument(kind, bundle, index));
  await each(['automation'], '/automation', planAutomation);
  return { plan: { parts, removed, installed: installed.filter((one) => one !== undefined) }, refusals };
};
