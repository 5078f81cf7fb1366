import { oneByOne } from '@automation-platform/concurrency';
import { type Event, fold } from '../../domain/engine/core.ts';
import { nameKey } from '../../domain/engine/names.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { documentKinds } from '../../domain/kinds.ts';
import type { AutomationImported } from '../../domain/operations-manager/automationImports.ts';
import { automationNames } from '../../domain/operations-manager/automations.ts';
import { triggerNames } from '../../domain/operations-manager/triggers.ts';
import type { BundleError, Part } from '../../domain/prebuilts/parts.ts';
import { type Bundle, isHeld, kindMeant } from '../../domain/prebuilts/prebuiltSchemas.ts';
import { sealKept } from '../../domain/prebuilts/prebuiltSecrets.ts';
import type { Plan } from '../../domain/prebuilts/prebuilts.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { triggers as allTriggers } from '../../projections/operations-manager/triggers.ts';
import { refuseAbove, refuseAccess, refuseEntry } from '../engine/decide.ts';
import type { Tools } from '../engine/define.ts';
import { holderOf, type Imports, type PartOfPackage } from '../engine/kinds.ts';
import type { Next } from '../engine/reactions.ts';
import { kindOf } from '../kinds.ts';
import { importAutomation, preparing } from '../operations-manager/automationImports.ts';
import { type Draft, type Installing, newDraft, onlyFor } from './prebuiltDrafts.ts';

/** The part of the document that a plan needs. */
type Given = {
  readonly name: string;
  readonly triggers?: readonly { readonly _id: string; readonly name: string }[];
};

/** The decision that `importAutomation` would make for this document; undefined if nothing changes. */
const decideImport = async ({ request, world }: Draft, bundle: Bundle, index: number) => {
  const { actor, now, newId, overwrite, installedAs } = request;
  const id = newId(`automation import ${index}`);
  const input = { automation: bundle.data as never, overwrite };
  const refs = await preparing(
    { input, actor, newId: (word) => newId(`automation ${index} ${word}`) },
    world,
    installedAs(bundle, index) as never,
  );
  const [decided] = importAutomation.decide({}, input, { id, now, actor, newId, refs }) as readonly Event<
    string,
    AutomationImported
  >[];
  return { refs, decided: decided?.data };
};

/** Plans one automation with its triggers. */
const planAutomation = async (draft: Draft, bundle: Bundle, index: number): Promise<void> => {
  const { type } = bundle;
  const { refs, decided } = await decideImport(draft, bundle, index);
  const { name, triggers = [] } = refs.sealed as Given;
  draft.reserve(index, [
    `automation-${refs.id}`,
    ...automationNames({ name }).map(nameKey),
    ...triggers.map(({ _id }) => `trigger-${_id}`),
  ]);
  if (decided) await planParts(draft, decided, triggers, index);
  draft.installed[index] = { type, _id: refs.id, name };
  draft.sealed[index] = { ...bundle, data: refs.sealed };
};

const planParts = async (
  { tools, reserve, parts, removed }: Draft,
  { automation: { _id, ...automation }, triggers, removed: gone }: AutomationImported,
  given: NonNullable<Given['triggers']>,
  bundle: number,
): Promise<void> => {
  const restored = triggers.map(({ _id: id, ...content }) => ({
    category: 'trigger',
    id,
    names: triggerNames(content),
    bundle,
    content,
  }));
  reserve(
    bundle,
    restored.flatMap((part) => [`trigger-${part.id}`, ...part.names.map(nameKey)]),
  );
  onlyFor(_id, await holderOf(automations, 'name', automation.name, tools), automation.name);
  for (const { id, content } of restored) {
    if (content.type !== 'endpoint') continue;
    const path = `/triggers/${given.findIndex(({ name }) => name === content.name)}/routeName`;
    onlyFor(id, await holderOf(allTriggers, 'routeName', content.routeName, tools), content.routeName, path);
  }
  parts.push(
    { category: 'automation', id: _id, names: automationNames(automation), bundle, content: automation },
    ...restored,
  );
  removed.push(...gone.map((id) => ({ id, actionId: _id })));
};

/** Plans one document that is no automation, with the command that imports such documents. */
const planDocument = async (draft: Draft, kind: Imports, bundle: Bundle, index: number): Promise<void> => {
  const { type, data } = bundle;
  const { tools, request } = draft;
  const { actor, now, newId, overwrite, installedAs, freshId } = request;
  const { command, member, holder, meant } = kind;
  const { aggregate } = command;
  const id = await meant(data, freshId?.(index) ?? newId(`bundle ${index}`), tools);
  const state = await tools.state(aggregate, id);
  const plain = { [member]: data, overwrite };
  const earlier = installedAs({ type, data }, index).map((document) => ({ [member]: document }));
  const input = command.seal ? command.seal(plain, state, tools.seal, earlier) : plain;
  const refs = await command.prepare?.({ id, input, state, actor, now, newId, precomputed: undefined }, tools);
  refuseAccess(command, { state, refs, actor });
  await refuseAbove(command, { state, actor }, tools);
  const events = command.decide(state, input, { id, now, actor, newId, refs });
  const after = fold(aggregate, events, state);
  await refuseEntry(aggregate, { before: state, state: after, actor }, tools);
  const names = aggregate.names?.(after) ?? [];
  const [unique] = names;
  const name = unique?.name ?? String(data.name);
  draft.reserve(index, [`${aggregate.category}-${id}`, ...names.map(nameKey)]);
  if (events.length > 0 && unique) onlyFor(id, await holder(name, tools), name);
  draft.add({ kind, id, name, state: after });
  draft.sealed[index] = { ...bundle, data: input[member] };
  draft.installed[index] = { type, _id: id, name };
  if (events.length > 0) draft.parts.push({ category: aggregate.category, id, names, bundle: index });
};

/**
 * The error of one document as an error of the request. `inside` is the prefix of its paths that stands for the
 * document.
 */
const moved = ({ code, message, faults }: RequestError, at: string, inside: string): RequestError => {
  const within = (path = '') => (path.startsWith(inside) ? path.slice(inside.length) : path);
  return new RequestError(code, message, {
    faults: faults.map((fault) => ({ ...fault, path: at + within(fault.path) })),
  });
};

type Planned = {
  readonly plan: Plan;
  readonly sealed: readonly Bundle[];
  readonly errors: readonly BundleError[];
} & Pick<Draft, 'components' | 'added' | 'reserved'>;

/**
 * The plan of an installation. Each document is checked, and goes through the decision of the command that imports it.
 * So nothing can be rejected after the package is decided. Errors are returned, not thrown. `sealed` are the documents
 * that are installed or kept, with sealed secrets.
 */
export const planOf = async (request: Installing, outer: Tools): Promise<Planned> => {
  const { bundles, installedAs, pathOf } = request;
  const draft = newDraft(request, outer);
  const errors: BundleError[] = [];

  const each = async (
    isOne: (type: string) => boolean,
    inside: string,
    work: (bundle: Bundle, index: number) => Promise<void>,
  ): Promise<void> => {
    const ofTypes = [...bundles.entries()].filter(([, { type }]) => isOne(type));
    await oneByOne(ofTypes, ([index, bundle]) =>
      work(bundle, index).catch((error: unknown) => {
        if (!(error instanceof RequestError)) throw error;
        draft.release(index);
        errors.push({ index, error: moved(error, pathOf(index), inside) });
      }),
    );
  };

  for (const { of, types } of documentKinds) {
    const plan = request.plans?.[of.category];
    if (plan)
      await each(
        (type) => types.includes(type),
        `/${of.category}`,
        (bundle, index) => plan(draft, bundle, index),
      );
    const imports = types.length > 0 ? kindOf(of.category)?.imports : undefined;
    if (!imports) continue;
    await each(
      (type) => types.includes(type),
      imports.inside,
      async (bundle, index) => {
        imports.check(bundle.data);
        if (imports.command.aggregate === of) await planDocument(draft, imports, bundle, index);
        else await planAutomation(draft, bundle, index);
      },
    );
  }
  for (const [index, { type }] of bundles.entries()) {
    const meant = kindMeant(type);
    if (!meant) continue;
    const message = `There is no kind ${JSON.stringify(type)}; ${meant} is meant`;
    errors.push({ index, error: new RequestError('invalid', message, { path: `/prebuilt/bundles/${index}/type` }) });
  }
  await each(
    (type) => !isHeld(type) && !kindMeant(type),
    '',
    async (bundle, index) => {
      draft.sealed[index] = sealKept(bundle, installedAs(bundle, index), draft.tools.seal);
    },
  );
  const { components, added, reserved } = draft;
  return {
    ...withoutRefused(draft, errors),
    errors: errors.sort((a, b) => a.index - b.index),
    components,
    added,
    reserved,
  };
};

/** The plan without the documents that are refused. The remaining ones get their places in the package without these. */
const withoutRefused = (
  { parts, removed, sealed, installed, components }: Draft,
  errors: readonly BundleError[],
): Pick<Planned, 'plan' | 'sealed'> => {
  const refused = new Set(errors.map(({ index }) => index));
  const places = new Map(
    [...sealed.keys()].filter((index) => !refused.has(index)).map((index, place) => [index, place]),
  );
  return {
    plan: {
      parts: parts.map((part) => ({ ...part, bundle: places.get(part.bundle) ?? part.bundle })),
      removed,
      installed: [...installed.filter((one) => one !== undefined), ...components.installed],
    },
    sealed: sealed.filter((_, index) => places.has(index)),
  };
};

/** Throws if a stored plan refers to something unknown. That would be a bug. */
const orThrow = <T>(found: T | undefined): T => {
  if (found === undefined) throw new Error('The plan of an installation names what is not there');
  return found;
};

/** The command that carries out a part of an installation. */
export const partOf = (
  { category, id, bundle, content }: Part,
  { bundles, accounts, at }: Omit<PartOfPackage, 'document'> & { readonly bundles: readonly Bundle[] },
): Next => {
  const command = orThrow(kindOf(category)?.part);
  if (content !== undefined) return { command, id, input: content };
  const { data: document } = orThrow(bundles[bundle]);
  return { command, id, input: { document, accounts, at } satisfies PartOfPackage };
};
