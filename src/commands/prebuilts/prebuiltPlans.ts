import type { AutomationImported } from '../../domain/operations-manager/automationImports.ts';
import { automationNames } from '../../domain/operations-manager/automations.ts';
import { type Event, fold, type Name } from '../../domain/engine/core.ts';
import {
  matching,
  type Part,
  type Plan,
  type PrebuiltImport,
  type PrebuiltState,
} from '../../domain/prebuilts/prebuilts.ts';
import { type Bundle, type BundleType, keptTypes } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { sealKept } from '../../domain/prebuilts/prebuiltSecrets.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import { bounded } from '../../domain/engine/secretFields.ts';
import { triggerNames } from '../../domain/operations-manager/triggers.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { triggers as allTriggers } from '../../projections/operations-manager/triggers.ts';
import { importAutomation, preparing } from '../operations-manager/automationImports.ts';
import type { Preparing, Tools } from '../engine/define.ts';
import { holderOf, type Kind, kinds } from './prebuiltKinds.ts';
import { inTurns } from '../mop/searches.ts';

type Request = Pick<Preparing<PrebuiltState, PrebuiltImport>, 'input' | 'state' | 'actor' | 'now' | 'newId'>;

/** Resources as the package leaves them. */
const plannedOf = () => {
  const states = new Map<string, unknown>();
  const ids = new Map<string, string>();
  return {
    add: (
      { collection: { collection }, command: { aggregate } }: Kind,
      id: string,
      name: string,
      state: unknown,
    ): void => {
      states.set(`${aggregate.category}-${id}`, state);
      ids.set(`${collection} ${name}`, id).set(`${collection}/${id}`, id);
    },
    /** The platform as it will be then: documents of a package may name each other. */
    within: (tools: Tools): Tools => ({
      ...tools,
      state: async (aggregate, id) =>
        (states.get(`${aggregate.category}-${id}`) as never) ?? tools.state(aggregate, id),
      find: async (of, idOrName) => {
        const { collection } = of;
        const known = ids.get(`${collection}/${idOrName}`) ?? ids.get(`${collection} ${idOrName}`);
        if (known !== undefined) return known;
        const id = await tools.find(of, idOrName);
        // One of the package that loses this very name.
        return ids.has(`${collection}/${id}`) ? undefined : id;
      },
    }),
  };
};

/** A refusal of the document alone as one of the request; `inside`: where in its paths the document begins. */
const moved = ({ code, message, faults }: Refusal, index: number, inside: string): Refusal => {
  const within = (path = '') => (path.startsWith(inside) ? path.slice(inside.length) : path);
  return new Refusal(code, message, {
    faults: faults.map((fault) => ({ ...fault, path: `/prebuilt/bundles/${index}/data${within(fault.path)}` })),
  });
};

const withFormData = (trigger: object, formData: object | null | undefined): object =>
  formData === undefined ? trigger : { ...trigger, formData };

const keyOf = ({ kind, parent = '', name }: Name): string => JSON.stringify([kind, parent, name]);

type Planned = { readonly plan: Plan; readonly sealed: readonly Bundle[]; readonly refusals: readonly Refusal[] };

/**
 * What installing the package comes to: each document goes through the command that would take it in by itself, up to
 * its decision, so that nothing is refused once the package is decided. Refusals are told, not thrown. `sealed`: the
 * documents with their secrets sealed as that command seals them.
 */
export const planOf = async (request: Request, given: Tools): Promise<Planned> => {
  const {
    input: {
      prebuilt: { bundles },
      overwrite = false,
    },
    actor,
    now,
    newId,
  } = request;
  const tools = { ...given, seal: bounded(given.seal) };
  const installedAs = matching(request.state);
  const sealed = [...bundles];
  const parts: Part[] = [];
  const removed: { id: string; actionId: string }[] = [];
  const installed: (Plan['installed'][number] | undefined)[] = [];
  const refusals: Refusal[] = [];
  const planned = plannedOf();
  const world = planned.within(tools);
  const taken = new Map<string, number>();

  /** Notes that the document needs the streams and names, which nobody else may have. */
  const reserve = (index: number, keys: readonly string[]): void => {
    for (const key of keys) {
      const earlier = taken.get(key);
      if (earlier !== undefined && earlier !== index)
        throw new Refusal('invalid', `The documents of bundles ${earlier} and ${index} have an id or name in common`);
      taken.set(key, index);
    }
  };
  const onlyFor = (id: string, holder: string | undefined, name: string, path = '/name'): void => {
    if (holder !== undefined && holder !== id)
      throw new Refusal('conflict', `The name ${JSON.stringify(name)} is taken`, { path });
  };

  const planKept = async (bundle: Bundle, index: number): Promise<void> => {
    sealed[index] = sealKept(bundle, installedAs(bundle, index), tools.seal);
  };

  const planDocument = async (kind: Kind, { type, data }: Bundle, index: number): Promise<void> => {
    const { command, member, holder, meant } = kind;
    const { aggregate } = command;
    const id = await meant(data, newId(`bundle ${index}`), tools);
    const state = await tools.state(aggregate, id);
    const plain = { [member]: data, overwrite };
    const kept = installedAs({ type, data }, index).map((document) => ({ [member]: document }));
    const input = command.seal ? command.seal(plain, state, tools.seal, kept) : plain;
    sealed[index] = { type, data: input[member] };
    const refs = await command.prepare?.({ id, input, state, actor, now, newId, early: undefined }, tools);
    const events = command.decide(state, input, { id, now, actor, newId, refs });
    const after = fold(aggregate, events, state);
    const names = aggregate.names!(after);
    const { name } = names[0]!;
    reserve(index, [`${aggregate.category}-${id}`, ...names.map(keyOf)]);
    planned.add(kind, id, name, after);
    installed[index] = { type, _id: id, name };
    if (events.length === 0) return;
    onlyFor(id, await holder(name, tools), name);
    parts.push({ category: aggregate.category, id, names, bundle: index });
  };

  const planAutomation = async ({ type, data }: Bundle, index: number): Promise<void> => {
    const id = newId(`automation import ${index}`);
    const input = { automation: data as never, overwrite };
    const refs = await preparing({ input, actor }, world, installedAs({ type, data }, index) as never);
    const [decided] = importAutomation.decide({}, input, { id, now, actor, newId, refs }) as readonly Event<
      string,
      AutomationImported
    >[];
    const { name, triggers: given = [] } = data as {
      readonly name: string;
      readonly triggers?: readonly { readonly _id: string; readonly name: string }[];
    };
    reserve(index, [
      `automation-${refs.id}`,
      ...automationNames({ name }).map(keyOf),
      ...given.map(({ _id }) => `trigger-${_id}`),
    ]);
    installed[index] = { type, _id: refs.id, name };
    const triggersSealed = given.map((trigger, i) => withFormData(trigger, refs.formData[i]));
    if (given.length > 0) sealed[index] = { type, data: { ...data, triggers: triggersSealed } };
    if (!decided) return;
    const {
      automation: { _id, ...automation },
      triggers,
      removed: gone,
    } = decided.data;
    const restored = triggers.map(({ _id, ...content }) => ({
      category: 'trigger',
      id: _id,
      names: triggerNames(content),
      bundle: index,
      content,
    }));
    reserve(
      index,
      restored.flatMap((part) => [`trigger-${part.id}`, ...part.names.map(keyOf)]),
    );
    onlyFor(_id, await holderOf(automations, 'name', name, tools), name);
    for (const { id, content } of restored) {
      if (content.type === 'endpoint')
        onlyFor(
          id,
          await holderOf(allTriggers, 'routeName', content.routeName, tools),
          content.routeName,
          `/triggers/${given.findIndex(({ name }) => name === content.name)}/routeName`,
        );
    }
    parts.push(
      { category: 'automation', id: _id, names: automationNames(automation), bundle: index, content: automation },
      ...restored,
    );
    removed.push(...gone.map((id) => ({ id, actionId: _id })));
  };

  const each = async (
    types: readonly BundleType[],
    inside: string,
    work: (bundle: Bundle, index: number) => Promise<void>,
  ): Promise<void> => {
    const ofTypes = [...bundles.entries()].filter(([, { type }]) => types.includes(type));
    await inTurns(ofTypes, ([index, bundle]) =>
      work(bundle, index).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        refusals.push(moved(error, index, inside));
      }),
    );
  };

  for (const kind of kinds) await each(kind.types, kind.inside, (bundle, index) => planDocument(kind, bundle, index));
  await each(['automation'], '', planAutomation);
  await each(keptTypes, '', planKept);
  return { plan: { parts, removed, installed: installed.filter((one) => one !== undefined) }, sealed, refusals };
};
